// How long one step of a plan takes on a cluster, and on what the time is spent.
#pragma once

#include "fourhold/hardware/cluster.h"
#include "fourhold/model/model_config.h"
#include "fourhold/plan/plan.h"
#include "fourhold/plan/profile.h"
#include "fourhold/plan/program.h"
#include "fourhold/predict/block_time.h"
#include "fourhold/predict/step_time.h"

namespace fourhold::predict {

// Rates of work by model FLOPs: see model_flops.h for the convention. `mfu` is of the dense peak of
// the compute type; `hfu` adds the forwards that recomputation does again.
struct TimePrediction {
  double step_seconds = 0;         // with the schedule replayed
  double lower_bound_seconds = 0;  // as a search scores it
  double tokens_per_second_per_device = 0;
  double tflops_per_device = 0;
  double mfu = 0;
  double hfu = 0;
  PartSeconds parts;
};

// What no layer falls below in this plan (ProfileTime::stalled_layer_seconds), for forward and
// backward of one micro-batch; 0 for most.
[[nodiscard]] double layer_floor_seconds(const plan::Plan& plan, const plan::Profile& profile,
                                         const hardware::Cluster& cluster);

// What is the same for all candidates of a search that share (tp, cp, ep, micro_batch) and the
// recompute policy: times of every block of `blocks`.
[[nodiscard]] std::vector<BlockTime> block_times(const plan::ProgramBlocks& blocks,
                                                 const model::ModelConfig& config,
                                                 const plan::Plan& plan,
                                                 const plan::Profile& profile,
                                                 const hardware::Cluster& cluster);

// Parameters per stage, the same for every way to store the state.
[[nodiscard]] std::vector<BlockParameters> stage_parameters(const model::ModelConfig& config,
                                                            const plan::ProgramBlocks& blocks,
                                                            const plan::Plan& plan,
                                                            const plan::Profile& profile);
// State traffic per stage, from those.
[[nodiscard]] std::vector<StateTraffic> stage_traffic(
    const std::vector<BlockParameters>& parameters, const model::ModelConfig& config,
    const plan::Plan& plan, const plan::Profile& profile, const hardware::Cluster& cluster);

// What a boundary between stages costs one way, for a stream of `bytes` (local).
[[nodiscard]] double send_seconds(std::int64_t bytes, const model::ModelConfig& config,
                                  const plan::Plan& plan, const plan::Profile& profile,
                                  const hardware::Cluster& cluster);

// What of a micro-batch travels beside its blocks (local).
struct StreamBytes {
  std::int64_t sent = 0;       // from stage to stage: what a layer hands to the next
  std::int64_t offloaded = 0;  // to the host and back: activations of all layers
};

// What a plan and its profile say of a step. The chunks' seconds are left empty. Throws Error where
// activations are offloaded and the device has no link to its host.
[[nodiscard]] StepFrame step_frame(const StreamBytes& stream, const model::ModelConfig& config,
                                   const plan::Plan& plan, const plan::Profile& profile,
                                   const hardware::Cluster& cluster);

// The step of a (valid) plan as numbers, from those.
[[nodiscard]] StepTimeInput step_time_input(const plan::ProgramBlocks& blocks,
                                            const std::vector<BlockTime>& times,
                                            const model::ModelConfig& config,
                                            const plan::Plan& plan, const plan::Profile& profile,
                                            const hardware::Cluster& cluster);

// Throws Error where the device lacks a rate or a link that the plan needs.
[[nodiscard]] TimePrediction predict_time(const model::ModelConfig& config, const plan::Plan& plan,
                                          const plan::Profile& profile,
                                          const hardware::Cluster& cluster);

}  // namespace fourhold::predict
