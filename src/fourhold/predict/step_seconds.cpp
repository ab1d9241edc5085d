#include "fourhold/predict/step_seconds.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

namespace fourhold::predict {
namespace {

// Traffic beside work: what of it shows, if `visible` of the smaller does.
double beside(double traffic, double work, double visible) {
  return std::max(0.0, traffic - work) + visible * std::min(traffic, work);
}

double beyond(double traffic, double hidden) { return std::max(0.0, traffic - hidden); }

ShownTraffic shown_of(const StepFrame& frame, const StateTraffic& traffic, std::size_t stage) {
  double forward = 0;
  double backward = 0;
  for (std::size_t i = stage; i < frame.chunks.size(); i += static_cast<std::size_t>(frame.pp)) {
    forward += frame.chunks[i].forward;
    backward += frame.chunks[i].backward;
  }
  ShownTraffic shown;
  const double hidden = frame.data_overlap * backward;
  if (traffic.gather_forward > 0) {
    shown.forward_data = beside(traffic.gather_forward, forward, frame.gathered_visible);
    shown.backward_data =
        beside(traffic.gather_backward + traffic.reduce, backward, frame.gathered_visible);
    shown.step_data = beyond(traffic.per_step, hidden);
  } else {
    shown.backward_data = beyond(traffic.reduce, hidden);
    // The last reduction and what follows it share the last backward.
    shown.step_data = beyond(traffic.reduce + traffic.per_step, hidden) - shown.backward_data;
  }
  shown.step_data += traffic.after_backward + traffic.replicas;
  shown.forward_offload =
      beyond(std::max(traffic.offload_forward, frame.residual_seconds), forward);
  shown.backward_offload = beyond(traffic.offload_backward + frame.residual_seconds, backward);
  return shown;
}

// What shows of a stage's traffic is spread evenly over its chunks.
void fill_pipeline(const StepFrame& frame, const std::vector<StateTraffic>& traffic,
                   const std::vector<ShownTraffic>& shown, PipelineInput& pipeline) {
  pipeline.schedule = frame.schedule;
  pipeline.pp = frame.pp;
  pipeline.vpp = frame.vpp;
  pipeline.micro_batches = frame.micro_batches;
  pipeline.chunks.resize(frame.chunks.size());
  const double per_chunk = 1.0 / static_cast<double>(frame.vpp);
  const double send = frame.pp > 1 ? frame.send_seconds : 0;
  for (std::size_t i = 0; i < frame.chunks.size(); ++i) {
    const std::size_t stage = i % shown.size();
    const ShownTraffic& own = shown[stage];
    const double accumulate = traffic[stage].accumulate;
    pipeline.chunks[i] = {
        frame.chunks[i].forward + send + (own.forward_data + own.forward_offload) * per_chunk,
        frame.chunks[i].backward + send +
            (own.backward_data + own.backward_offload + accumulate) * per_chunk};
  }
}

}  // namespace

double StepClock::seconds(const StepFrame& frame, const std::vector<StateTraffic>& traffic,
                          PipelineMethod method) {
  assert(frame.chunks.size() == static_cast<std::size_t>(frame.pp * frame.vpp) &&
         traffic.size() == static_cast<std::size_t>(frame.pp) &&
         "a time for each virtual stage, traffic for each stage");
  shown_.clear();
  for (std::size_t stage = 0; stage < traffic.size(); ++stage) {
    shown_.push_back(shown_of(frame, traffic[stage], stage));
  }
  fill_pipeline(frame, traffic, shown_, pipeline_);
  if (method == PipelineMethod::replayed) {
    stage_ends_ = replay(pipeline_);
  } else {
    stage_end_bounds(pipeline_, stage_ends_);
  }
  ends_ = {};
  for (std::size_t stage = 0; stage < traffic.size(); ++stage) {
    ends_.pipeline = std::max(ends_.pipeline, stage_ends_[stage]);
    ends_.reduced = std::max(ends_.reduced, stage_ends_[stage] + shown_[stage].step_data);
    ends_.optimizer = std::max(ends_.optimizer, traffic[stage].optimizer);
    ends_.updated =
        std::max(ends_.updated, traffic[stage].optimizer + traffic[stage].offload_per_step);
    ends_.tied = std::max(ends_.tied, traffic[stage].tied);
  }
  return frame.correction * (ends_.reduced + ends_.tied + ends_.updated + frame.host_seconds);
}

}  // namespace fourhold::predict
