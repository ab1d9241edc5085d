// The fastest plans so far, and what they exclude.
#pragma once

#include <cstddef>
#include <vector>

#include "fourhold/search/candidate.h"

namespace fourhold::search {

struct FoundPlan {
  Candidate candidate;
  plan::Plan plan;
  double step_seconds = 0;  // replayed
};

// Ordered by replayed seconds, then by tuple order.
class BestPlans {
 public:
  // At most that many plans, of at most that many seconds.
  BestPlans(std::size_t most, double most_seconds) : most_(most), most_seconds_(most_seconds) {}

  // No plan of at least that many seconds can still enter: not even on a tie of tuple order, which
  // needs equal seconds.
  [[nodiscard]] bool excludes(double bound_seconds) const;
  [[nodiscard]] bool would_take(double seconds, const Candidate& candidate) const;
  void add(double seconds, const Candidate& candidate);

  [[nodiscard]] std::vector<FoundPlan> plans(const Space& space) const;

 private:
  struct Entry {
    double seconds = 0;
    Candidate candidate;
  };
  static bool before(const Entry& a, const Entry& b);

  std::size_t most_;
  double most_seconds_;
  std::vector<Entry> entries_;
};

}  // namespace fourhold::search
