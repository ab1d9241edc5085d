// Which of the fastest plans are worth a line of their own: those that differ in what they cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fourhold/plan/plan.h"

namespace fourhold::api {

// Two plans are alike where neither their steps nor their memories differ by more than this share:
// less than a prediction can tell; or where the later one only recomputes more layers.
inline constexpr double kAlikeShare = 0.015;

struct TimedPlan {
  plan::Plan plan;
  double step_seconds = 0;
  std::int64_t device_bytes = 0;
};

// A plan that stands for those that are alike to the fastest of its group.
struct Alternative {
  TimedPlan shown;
  std::int64_t alike = 0;  // plans of its group that are not shown
};

// At most `most` alternatives of plans that stand fastest first, in the order of their fastest
// plans. A group is shown by its simplest plan, the one with the fewest splits and policies in use
// (of several the fastest); the first by its fastest as well, on a line before, where that is
// another.
[[nodiscard]] std::vector<Alternative> alternatives_of(const std::vector<TimedPlan>& plans,
                                                       std::size_t most);

}  // namespace fourhold::api
