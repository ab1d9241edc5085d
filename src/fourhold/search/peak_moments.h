// The moments of a stage that can hold its peak, whatever its blocks weigh: a few of hundreds.
#pragma once

#include <vector>

#include "fourhold/predict/stage_moments.h"

namespace fourhold::search {

struct PeakMoment {
  predict::StageMoment moment;
  predict::AliveCounts alive;
};

// Of equal work, those that find most alive: no other moment of the stage can weigh more.
[[nodiscard]] std::vector<PeakMoment> peak_moments(const predict::MomentInput& stage,
                                                   const predict::SlotStates& slots);

}  // namespace fourhold::search
