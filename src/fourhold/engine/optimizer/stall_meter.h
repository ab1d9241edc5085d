// How many updates of a run were too small to change anything.
#pragma once

#include <cstdint>

#include "fourhold/engine/optimizer/update.h"

namespace fourhold::engine {

struct StallCount {
  std::int64_t updates = 0;  // that were not zero
  std::int64_t lost = 0;     // of these, rounded to no change

  StallCount& operator+=(const StallCount& other) {
    updates += other.updates;
    lost += other.lost;
    return *this;
  }
  // 0 when there was no update.
  [[nodiscard]] double share() const {
    return updates == 0 ? 0 : static_cast<double>(lost) / static_cast<double>(updates);
  }
  friend constexpr bool operator==(const StallCount&, const StallCount&) = default;
};

// Fed with the report of every shard; the log line takes what came since the last one.
class StallMeter {
 public:
  void add(const UpdateReport& report) { since_last_ += {report.nonzero, report.lost}; }
  StallCount take() {
    const StallCount count = since_last_;
    taken_ += count;
    since_last_ = {};
    return count;
  }
  [[nodiscard]] StallCount whole_run() const {
    StallCount sum = taken_;
    return sum += since_last_;
  }

 private:
  StallCount taken_;
  StallCount since_last_;
};

}  // namespace fourhold::engine
