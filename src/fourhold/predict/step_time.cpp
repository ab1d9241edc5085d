#include "fourhold/predict/step_time.h"

#include <cstddef>

namespace fourhold::predict {
namespace {

// The mean stage's work over all micro-batches, by part.
PartSeconds work_parts(const StepTimeInput& input, const std::vector<ShownTraffic>& shown) {
  PartSeconds parts;
  const auto micro_batches = static_cast<double>(input.micro_batches);
  add_parts(parts, input.work, micro_batches);
  const double times = micro_batches / static_cast<double>(input.pp);
  for (std::size_t stage = 0; stage < shown.size(); ++stage) {
    const ShownTraffic& own = shown[stage];
    parts.compute += times * input.traffic[stage].accumulate;
    parts.data_parallel += times * (own.forward_data + own.backward_data);
    parts.offload += times * (own.forward_offload + own.backward_offload);
  }
  if (input.pp > 1) {
    parts.pipeline_transfer +=
        2 * input.send_seconds * static_cast<double>(input.micro_batches * input.vpp);
  }
  return parts;
}

}  // namespace

StepTime step_time(const StepTimeInput& input, PipelineMethod method) {
  StepClock clock;
  StepTime step;
  step.seconds = clock.seconds(input, input.traffic, method);
  PartSeconds parts = work_parts(input, clock.shown());
  const StepClock::Ends& ends = clock.ends();
  parts.data_parallel += ends.reduced - ends.pipeline;
  parts.pipeline_transfer += ends.tied;
  parts.optimizer += ends.optimizer;
  parts.offload += ends.updated - ends.optimizer;
  parts.host += input.host_seconds;
  // Exactly 0 where there is one stage, whatever the sums round to.
  if (input.pp > 1) parts.pipeline_bubble = step.seconds / input.correction - parts.total();
  add_parts(step.parts, parts, input.correction);
  return step;
}

}  // namespace fourhold::predict
