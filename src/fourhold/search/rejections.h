// Counts of candidates that fell out, by reason, and the one that missed by least.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/plan/profile.h"
#include "fourhold/predict/verdict.h"
#include "fourhold/search/candidate.h"
#include "fourhold/search/memory_table.h"

namespace fourhold::search {

// Why a legal candidate does not fit.
enum class Misfit : std::uint8_t { device_memory, host_memory, fragmentation };
inline constexpr std::array<std::string_view, 3> kMisfitNames{"device_memory", "host_memory",
                                                              "fragmentation"};

// What a plan may use, as the bytes of a candidate are compared with it.
class Limits {
 public:
  Limits(const predict::Capacity& capacity, const plan::Profile& profile);

  struct Miss {
    Misfit why = Misfit::device_memory;
    std::int64_t missing_bytes = 0;
  };
  // Absent: it fits. Equals predict::classify on predict_memory's figures.
  [[nodiscard]] std::optional<Miss> miss(const PlanBytes& bytes) const;

 private:
  std::int64_t device_budget_ = 0;
  std::optional<std::int64_t> host_budget_;
  double needed_over_allocated_ = 1;
  std::int64_t runtime_bytes_ = 0;
};

class Rejections {
 public:
  void add_illegal(Illegal why, std::int64_t count) {
    illegal_[static_cast<std::size_t>(why)] += count;
  }
  // `make` gives the candidate; it is asked only when it is the nearest so far.
  template <class Make>
  void add_miss(const Limits::Miss& miss, const Make& make) {
    Missed& missed = missed_[static_cast<std::size_t>(miss.why)];
    ++missed.count;
    if (missed.nearest && miss.missing_bytes > missed.missing_bytes) return;
    const Candidate candidate = make();
    // Candidates come in no fixed order: of equal misses the first in tuple order stays.
    if (missed.nearest && miss.missing_bytes == missed.missing_bytes &&
        *missed.nearest < candidate) {
      return;
    }
    missed.nearest = candidate;
    missed.missing_bytes = miss.missing_bytes;
  }

  struct Missed {
    std::int64_t count = 0;
    std::int64_t missing_bytes = 0;
    std::optional<Candidate> nearest;
  };
  [[nodiscard]] std::int64_t illegal(Illegal why) const {
    return illegal_[static_cast<std::size_t>(why)];
  }
  [[nodiscard]] const Missed& missed(Misfit why) const {
    return missed_[static_cast<std::size_t>(why)];
  }
  [[nodiscard]] std::int64_t illegal_count() const;
  [[nodiscard]] std::int64_t missed_count() const;

 private:
  std::array<std::int64_t, kIllegalCount> illegal_{};
  std::array<Missed, kMisfitNames.size()> missed_{};
};

}  // namespace fourhold::search
