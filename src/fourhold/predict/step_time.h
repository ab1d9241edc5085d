// The time of one optimizer step by part, from the times of its stages: numbers in, numbers out.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/predict/part_seconds.h"
#include "fourhold/predict/step_seconds.h"

namespace fourhold::predict {

struct StepTimeInput {
  plan::ScheduleKind schedule = plan::ScheduleKind::one_f_one_b;
  std::int64_t pp = 1;
  std::int64_t vpp = 1;
  std::int64_t micro_batches = 1;
  std::vector<ChunkSeconds> chunks = {};  // blocks alone, chunk x pp + stage
  PartSeconds work =
      {};  // the same by part: of the mean stage and one micro-batch, both directions
  std::vector<StateTraffic> traffic = {};  // per stage
  double send_seconds = 0;                 // the others as in StepSecondsInput
  double data_overlap = 1;
  double gathered_visible = 0.53;
  double host_seconds = 0;
};

struct StepTime {
  double seconds = 0;
  PartSeconds parts;  // of the mean stage; they add up to `seconds`
};

// StepClock's seconds, and on what they are spent.
[[nodiscard]] StepTime step_time(const StepTimeInput& input, PipelineMethod method);

}  // namespace fourhold::predict
