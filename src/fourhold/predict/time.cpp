#include "fourhold/predict/time.h"

#include <algorithm>
#include <cstddef>

#include "fourhold/plan/expand.h"
#include "fourhold/predict/model_flops.h"

namespace fourhold::predict {
namespace {

using plan::Axis;

std::int64_t kv_heads_of(const model::ModelConfig& config) {
  std::int64_t heads = 0;
  for (const model::LayerKind& kind : config.kinds) {
    if (kind.attention.kind == model::AttentionKind::heads) {
      heads = std::max(heads, kind.attention.kv_heads);
    }
  }
  return heads;
}

plan::Program program_of(const model::ModelConfig& config, const plan::ProgramBlocks& blocks,
                         const plan::Plan& plan, const plan::Profile& profile, std::int64_t stage) {
  return plan::lower(config, blocks, plan, profile, stage, plan::ProgramKind::train_step);
}

// Bytes per score of softmax and dropout in eager PyTorch beside a fused kernel, forward: scaled,
// masked, widened to fp32, normalised, cast and dropped one after the other, 27 for 9.
constexpr double kSplitSoftmaxBytes = 18;

// Parameters of a stage; a tied head counts where the embedding is not.
BlockParameters parameters_of(const plan::Program& program, const plan::ProgramBlocks& blocks,
                              const std::vector<BlockParameters>& of_block) {
  BlockParameters sum;
  bool embedding = false;
  for (const plan::Chunk& chunk : program.chunks) {
    embedding = embedding || chunk.embedding;
    for (const plan::BlockInstance& at : plan::block_instances(chunk, blocks)) {
      add_parameters(sum, of_block[static_cast<std::size_t>(at.block)]);
    }
  }
  if (!embedding) {
    sum.dense.trained += sum.tied.trained;
    sum.dense.weight_bytes += sum.tied.weight_bytes;
    sum.dense.state_bytes += sum.tied.state_bytes;
  }
  return sum;
}

// Activations of one micro-batch on the host: those of the one stage there is.
std::int64_t offloaded_bytes(const model::ModelConfig& config, const plan::ProgramBlocks& blocks,
                             const plan::Plan& plan, const plan::Profile& profile) {
  if (plan.activation_offload == plan::ActivationOffload::none) return 0;
  std::int64_t sum = 0;
  for (const plan::Chunk& chunk : program_of(config, blocks, plan, profile, 0).chunks) {
    for (const std::int16_t layer : chunk.layer_blocks) {
      for (const plan::ProgramTensor& tensor :
           blocks.blocks[static_cast<std::size_t>(layer)].tensors) {
        if (tensor.offloaded) sum += bytes_of(tensor.shape.elements(), tensor.dtype);
      }
    }
  }
  return sum;
}

}  // namespace

double layer_floor_seconds(const plan::Plan& plan, const plan::Profile& profile,
                           const hardware::Cluster& cluster) {
  const bool crosses = group_topology(plan, Axis::pp, 1, cluster.devices_per_node).nodes > 1;
  if (plan.tp == 1 || !crosses) return 0;
  return profile.time.stalled_layer_seconds * static_cast<double>(plan.tp);
}

std::vector<BlockTime> block_times(const plan::ProgramBlocks& blocks,
                                   const model::ModelConfig& config, const plan::Plan& plan,
                                   const plan::Profile& profile, const hardware::Cluster& cluster) {
  const std::int64_t kv_heads = kv_heads_of(config);
  const auto links = [&](Axis axis) { return group_links(cluster, plan, axis, kv_heads); };
  Rates rates = rates_of(cluster.device, profile, plan::recipe_of(plan, profile).compute);
  if (plan.seq > profile.time.fused_softmax_keys) rates.split_softmax_bytes = kSplitSoftmaxBytes;
  const BlockTimeInput input{.rates = rates,
                             .links = {links(Axis::tp), links(Axis::cp), links(Axis::ep)},
                             .sizes = {.micro_batch = plan.micro_batch, .seq = plan.seq},
                             .tensor_overlap = profile.time.tensor_overlap,
                             .gate_and_up = profile.time.gate_and_up,
                             .layer_floor_seconds = layer_floor_seconds(plan, profile, cluster),
                             .routing_seconds = profile.time.routing_seconds};
  std::vector<BlockTime> times;
  times.reserve(blocks.blocks.size());
  for (const plan::ProgramBlock& block : blocks.blocks) times.push_back(block_time(block, input));
  return times;
}

std::vector<BlockParameters> stage_parameters(const model::ModelConfig& config,
                                              const plan::ProgramBlocks& blocks,
                                              const plan::Plan& plan,
                                              const plan::Profile& profile) {
  const plan::Recipe recipe = plan::recipe_of(plan, profile);
  std::vector<BlockParameters> of_block;
  of_block.reserve(blocks.blocks.size());
  for (const plan::ProgramBlock& block : blocks.blocks) {
    of_block.push_back(block_parameters(block, recipe));
  }
  std::vector<BlockParameters> stages;
  stages.reserve(static_cast<std::size_t>(plan.pp));
  for (std::int64_t stage = 0; stage < plan.pp; ++stage) {
    stages.push_back(
        parameters_of(program_of(config, blocks, plan, profile, stage), blocks, of_block));
  }
  return stages;
}

std::vector<StateTraffic> stage_traffic(const std::vector<BlockParameters>& parameters,
                                        const model::ModelConfig& config, const plan::Plan& plan,
                                        const plan::Profile& profile,
                                        const hardware::Cluster& cluster) {
  const plan::Recipe recipe = plan::recipe_of(plan, profile);
  const StateLinks links = state_links(cluster, plan, kv_heads_of(config));
  StateTrafficInput input{.recipe = recipe,
                          .zero = plan.zero,
                          .offload = plan.offload,
                          .micro_batches = plan.grad_accum,
                          .profile = profile.time,
                          .fused_accumulation = profile.dummy_weight_gradients ==
                                                plan::DummyWeightGradients::one_per_shape,
                          .rates = rates_of(cluster.device, profile, recipe.compute),
                          .host_link = cluster.device.host_link};
  std::vector<StateTraffic> traffic;
  traffic.reserve(parameters.size());
  for (const BlockParameters& stage : parameters) {
    input.parameters = stage;
    traffic.push_back(state_traffic(input, links));
  }
  return traffic;
}

double send_seconds(std::int64_t bytes, const model::ModelConfig& config, const plan::Plan& plan,
                    const plan::Profile& profile, const hardware::Cluster& cluster) {
  if (plan.pp == 1) return 0;
  const std::int64_t kv_heads = kv_heads_of(config);
  auto sent = static_cast<double>(bytes);
  double seconds = profile.time.send_seconds;
  if (profile.time.pipeline_sends == plan::PipelineSends::scattered && plan.tp > 1 && !plan.sp) {
    sent /= static_cast<double>(plan.tp);
    seconds += collective_seconds(plan::Collective::all_gather, sent,
                                  group_links(cluster, plan, Axis::tp, kv_heads));
  }
  return seconds + collective_seconds(plan::Collective::send_receive, sent,
                                      group_links(cluster, plan, Axis::pp, kv_heads));
}

StepFrame step_frame(const StreamBytes& stream, const model::ModelConfig& config,
                     const plan::Plan& plan, const plan::Profile& profile,
                     const hardware::Cluster& cluster) {
  return {.schedule = plan.schedule,
          .pp = plan.pp,
          .vpp = plan.vpp,
          .micro_batches = plan.grad_accum,
          .send_seconds = send_seconds(stream.sent, config, plan, profile, cluster),
          .residual_seconds = stream.offloaded == 0 ? 0
                                                    : static_cast<double>(stream.offloaded) /
                                                          host_link_rate(cluster.device.host_link),
          .data_overlap = profile.time.data_overlap,
          .gathered_visible = profile.time.gathered_visible,
          .host_seconds = profile.time.host_seconds_per_step,
          .correction = profile.time.step_correction};
}

StepTimeInput step_time_input(const plan::ProgramBlocks& blocks,
                              const std::vector<BlockTime>& times, const model::ModelConfig& config,
                              const plan::Plan& plan, const plan::Profile& profile,
                              const hardware::Cluster& cluster) {
  const plan::ProgramBlock& layer =
      blocks.blocks[static_cast<std::size_t>(blocks.layer_of_kind.front())];
  const plan::ProgramTensor& stream = layer.tensors[static_cast<std::size_t>(layer.output)];
  StepTimeInput input{step_frame({.sent = bytes_of(stream.shape.elements(), stream.dtype),
                                  .offloaded = offloaded_bytes(config, blocks, plan, profile)},
                                 config, plan, profile, cluster),
                      {},
                      stage_traffic(stage_parameters(config, blocks, plan, profile), config, plan,
                                    profile, cluster)};
  input.chunks.resize(static_cast<std::size_t>(plan.pp * plan.vpp));
  for (std::int64_t stage = 0; stage < plan.pp; ++stage) {
    const plan::Program program = program_of(config, blocks, plan, profile, stage);
    for (std::size_t chunk = 0; chunk < program.chunks.size(); ++chunk) {
      ChunkSeconds& sum =
          input.chunks[chunk * static_cast<std::size_t>(plan.pp) + static_cast<std::size_t>(stage)];
      for (const plan::BlockInstance& at : plan::block_instances(program.chunks[chunk], blocks)) {
        const BlockTime& block = times[static_cast<std::size_t>(at.block)];
        sum.forward += block.forward.total();
        sum.backward += block.backward.total();
        add_parts(input.work, block.forward, 1 / static_cast<double>(plan.pp));
        add_parts(input.work, block.backward, 1 / static_cast<double>(plan.pp));
      }
    }
  }
  return input;
}

TimePrediction predict_time(const model::ModelConfig& config, const plan::Plan& plan,
                            const plan::Profile& profile, const hardware::Cluster& cluster) {
  const plan::ProgramBlocks blocks = plan::lower_blocks(config, plan, profile);
  const std::vector<BlockTime> times = block_times(blocks, config, plan, profile, cluster);
  const StepTimeInput input = step_time_input(blocks, times, config, plan, profile, cluster);
  const StepTime step = step_time(input, PipelineMethod::replayed);

  TimePrediction prediction;
  prediction.step_seconds = step.seconds;
  prediction.lower_bound_seconds = step_time(input, PipelineMethod::scored).seconds;
  prediction.parts = step.parts;
  const auto devices = static_cast<double>(plan.devices());
  const auto sequences = static_cast<double>(plan.global_batch);
  prediction.tokens_per_second_per_device =
      sequences * static_cast<double>(plan.seq) / devices / step.seconds;
  const double flops =
      model_flops_per_sequence(config, plan.seq, plan.prediction_layers) * sequences / devices;
  prediction.tflops_per_device = flops / step.seconds / 1e12;
  const double peak = rates_of(cluster.device, profile, plan::recipe_of(plan, profile).compute)
                          .peak_flops_per_second;
  prediction.mfu = flops / step.seconds / peak;

  double recomputed = 0;  // of the mean stage
  for (std::int64_t stage = 0; stage < plan.pp; ++stage) {
    const plan::Program program = program_of(config, blocks, plan, profile, stage);
    for (const plan::Chunk& chunk : program.chunks) {
      for (const plan::BlockInstance& at : plan::block_instances(chunk, blocks)) {
        recomputed += times[static_cast<std::size_t>(at.block)].recomputed_flops;
      }
    }
  }
  recomputed *= static_cast<double>(plan.grad_accum) / static_cast<double>(plan.pp);
  prediction.hfu = (flops + recomputed) / step.seconds / peak;
  return prediction;
}

}  // namespace fourhold::predict
