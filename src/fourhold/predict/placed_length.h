// How long a schedule may be whose tensors are placed one by one.
#pragma once

#include <cstdint>

#include "fourhold/plan/plan.h"

namespace fourhold::predict {

// Layers x micro-batches of one stage whose tensors are placed together: beyond these a placement
// takes more than about ten seconds, and twice as many four times that.
inline constexpr std::int64_t kMostPlacedLayers = std::int64_t{1} << 14;

// Layers x micro-batches of one stage that are walked one by one, a few of them alive together:
// beyond these a placement or an allocator's replay takes more than about ten seconds.
inline constexpr std::int64_t kMostWalkedLayers = std::int64_t{1} << 18;

struct PlacedStage {
  plan::ScheduleKind schedule = plan::ScheduleKind::one_f_one_b;
  std::int64_t pp = 1;
  std::int64_t layers = 1;  // of the fullest stage
};

// The most micro-batches whose arena is placed. GPipe has all of them in flight; in a pipeline of
// the other schedules each has a place of its own; on one stage they repeat each other.
[[nodiscard]] inline std::int64_t most_placed_micro_batches(const PlacedStage& stage) {
  const std::int64_t layers = stage.layers > 0 ? stage.layers : 1;
  if (stage.schedule == plan::ScheduleKind::gpipe) return kMostPlacedLayers / layers;
  return stage.pp == 1 ? std::int64_t{1} << 31 : kMostWalkedLayers / layers;
}

}  // namespace fourhold::predict
