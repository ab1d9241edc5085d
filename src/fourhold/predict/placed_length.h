// How long a schedule may be whose tensors are placed one by one.
#pragma once

#include <cstdint>

#include "fourhold/plan/plan.h"

namespace fourhold::predict {

// Layers x micro-batches of one stage whose tensors are placed together: beyond these a placement
// takes more than about ten seconds, and twice as many four times that.
inline constexpr std::int64_t kMostPlacedLayers = std::int64_t{1} << 14;

// The most micro-batches that a stage of `layers` may have in flight. GPipe has all of them in
// flight; the other schedules a number that does not grow with the micro-batches.
[[nodiscard]] inline std::int64_t most_placed_micro_batches(plan::ScheduleKind schedule,
                                                            std::int64_t layers) {
  return schedule == plan::ScheduleKind::gpipe ? kMostPlacedLayers / (layers > 0 ? layers : 1)
                                               : std::int64_t{1} << 31;
}

}  // namespace fourhold::predict
