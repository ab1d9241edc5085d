// The time of one optimizer step by part, from the times of its stages: numbers in, numbers out.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/predict/part_seconds.h"
#include "fourhold/predict/step_seconds.h"

namespace fourhold::predict {

struct StepTimeInput : StepFrame {
  // The time of `chunks` by part: of the mean stage and one micro-batch, both directions.
  PartSeconds work = {};
  std::vector<StateTraffic> traffic = {};  // per stage
};

struct StepTime {
  double seconds = 0;
  PartSeconds parts;  // of the mean stage; they add up to `seconds`
};

// StepClock's seconds, and on what they are spent.
[[nodiscard]] StepTime step_time(const StepTimeInput& input, PipelineMethod method);

}  // namespace fourhold::predict
