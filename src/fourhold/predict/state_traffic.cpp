#include "fourhold/predict/state_traffic.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/plan/recipe.h"

namespace fourhold::predict {
namespace {

using plan::Collective;
using plan::Offload;

double state_bytes_of(const plan::LocalParameter& parameter, const plan::Recipe& recipe) {
  const std::int64_t elements = parameter.elements();
  auto bytes = static_cast<double>(elements * recipe.master_bytes);
  model::Parameter local = parameter.use.parameter;
  local.shape = parameter.shape;
  for (const plan::StateTensor& moment : plan::optimizer_state(recipe, local, elements)) {
    bytes += static_cast<double>(bytes_of(moment.elements, moment.dtype) +
                                 bytes_of(moment.scale_elements, moment.scale_dtype));
  }
  return bytes;
}

// Seconds of a group's collectives over parameters, in messages of the profile's size.
class Traffic {
 public:
  Traffic(const StateTrafficInput& input, const ParameterSums& sums, double gathered_bytes,
          const GroupLinks& links, const GroupLinks& replicas)
      : input_(input),
        sums_(sums),
        gathered_bytes_(gathered_bytes),
        links_(links),
        replicas_(replicas) {}

  void add_to(StateTraffic& traffic) const {
    switch (input_.zero) {
      case 0:
        traffic.per_step += collective_seconds(Collective::all_reduce, gradient_bytes(), links_,
                                               messages(gradient_bytes()));
        break;
      case 1:
        (in_one_message() ? traffic.after_backward : traffic.per_step) +=
            reduce() + gather_updated() + copy_pieces();
        break;
      case 2:
        traffic.reduce += reduce();
        traffic.per_step += gather_updated();
        break;
      default:
        traffic.reduce += reduce_blocks();
        traffic.gather_forward += gather_blocks(sums_.weight_bytes);
        traffic.gather_backward += gather_blocks(gathered_bytes_ - sums_.weight_bytes);
    }
    traffic.per_step += sum_over_replicas();
  }

 private:
  [[nodiscard]] double ranks() const { return static_cast<double>(links_.topology.ranks); }
  [[nodiscard]] double blocks() const { return static_cast<double>(input_.parameters.blocks); }
  [[nodiscard]] double gradient_bytes() const {
    return sums_.trained * input_.profile.gradient_wire_bytes;
  }
  [[nodiscard]] double messages(double bytes) const {
    const auto size = static_cast<double>(input_.profile.message_bytes);
    return size <= 0 || in_one_message() ? 1 : std::max(1.0, std::ceil(bytes / size));
  }
  [[nodiscard]] bool in_one_message() const {
    return input_.zero == 1 &&
           input_.profile.sharded_reduction == plan::ShardedReduction::after_backward;
  }
  // To the flat gradients and from the flat weights.
  [[nodiscard]] double copy_pieces() const {
    if (!in_one_message() || links_.topology.ranks == 1) return 0;
    return 2 * sums_.tensors * ranks() * input_.rates.kernel_start_seconds;
  }
  [[nodiscard]] double reduce() const {
    return collective_seconds(Collective::reduce_scatter, gradient_bytes(), links_,
                              messages(gradient_bytes()));
  }
  // A rank's shard of the gradients, once a step.
  [[nodiscard]] double sum_over_replicas() const {
    return collective_seconds(Collective::all_reduce, gradient_bytes() / ranks(), replicas_,
                              messages(gradient_bytes()));
  }
  [[nodiscard]] double reduce_blocks() const {
    return collective_seconds(Collective::reduce_scatter, gradient_bytes(), links_, blocks());
  }
  [[nodiscard]] double gather_updated() const {
    return collective_seconds(Collective::all_gather, sums_.trained_weight_bytes / ranks(), links_,
                              messages(sums_.trained_weight_bytes));
  }
  [[nodiscard]] double gather_blocks(double bytes) const {
    if (bytes <= 0) return 0;
    return collective_seconds(Collective::all_gather, bytes / ranks(), links_, blocks());
  }

  const StateTrafficInput& input_;
  const ParameterSums& sums_;
  double gathered_bytes_;
  const GroupLinks& links_;
  const GroupLinks& replicas_;
};

double accumulate_bytes(const StateTrafficInput& input) {
  if (input.micro_batches == 1) return 0;
  const auto accumulator = static_cast<double>(bytes_of(1, input.recipe.gradient));
  const auto made = static_cast<double>(bytes_of(1, input.recipe.block_gradient));
  return 2 * accumulator + (input.fused_accumulation ? 0 : made);
}

// Bytes the optimizer moves for the parameters it owns.
double optimizer_bytes(const StateTrafficInput& input, const ParameterSums& sums, double owners) {
  const auto gradient = static_cast<double>(bytes_of(1, input.recipe.gradient));
  const auto weight = static_cast<double>(bytes_of(1, input.recipe.weight));
  // A weight that is its own master is read as well.
  const double weights = input.recipe.master_bytes == 0 ? 2 * weight : weight;
  return (2 * sums.state_bytes + (2 * gradient + weights) * sums.trained) / owners;
}

void add_offload(const StateTrafficInput& input, const StateLinks& links, StateTraffic& traffic) {
  if (input.offload == Offload::none) return;
  const double link = host_link_rate(input.host_link);
  const auto owned = [&](double dense, double experts, int from) {
    if (input.zero < from) return dense + experts;
    return dense / static_cast<double>(links.sharding.topology.ranks) +
           experts / static_cast<double>(links.expert_sharding.topology.ranks);
  };
  const BlockParameters& stage = input.parameters;
  const auto gradient = static_cast<double>(bytes_of(1, input.recipe.host_gradient));
  const double gradients = owned(stage.dense.trained, stage.experts.trained, 2) * gradient;
  traffic.offload_per_step = owned(stage.dense.state_bytes, stage.experts.state_bytes, 1) / link;
  if (input.offload == Offload::optimizer) return;
  traffic.offload_per_step += gradients / link;
  traffic.offload_backward = gradients / link;
  if (input.offload == Offload::optimizer_gradients) return;
  const double weights = owned(stage.dense.weight_bytes, stage.experts.weight_bytes, 3) / link;
  traffic.offload_forward = weights;
  traffic.offload_backward += weights;
}

}  // namespace

double host_link_rate(const hardware::Link& host_link) {
  if (!host_link.exists()) {
    throw Error("host_link", "is missing, but the plan offloads to host memory",
                "add host_link to the device, or use offload none");
  }
  return host_link.sustained_bytes_per_second();
}

BlockParameters block_parameters(const plan::ProgramBlock& block, const plan::Recipe& recipe) {
  BlockParameters sums;
  sums.blocks = 1;
  const bool layer = block.sharded.operations.block == model::Block::layer;
  for (const plan::LocalParameter& parameter : block.sharded.parameters) {
    const auto elements = static_cast<double>(parameter.elements());
    const plan::Recipe own = plan::recipe_of_use(recipe, parameter.use);
    // A frozen weight travels as it is stored.
    const DType form =
        parameter.use.trainable
            ? own.gathered
            : plan::frozen_weight(own, parameter.use.parameter, parameter.elements()).dtype;
    const auto weight = static_cast<double>(bytes_of(parameter.elements(), form));
    (parameter.expert ? sums.expert_gathered_bytes : sums.gathered_bytes) +=
        (layer ? 2 : 1) * weight;
    ParameterSums& shared = parameter.use.of_embedding ? sums.tied
                            : parameter.expert         ? sums.experts
                                                       : sums.dense;
    shared.weight_bytes += weight;
    if (!parameter.use.trainable) continue;
    shared.trained += elements;
    ++shared.tensors;
    shared.trained_weight_bytes += weight;
    shared.state_bytes += state_bytes_of(parameter, own);
    if (parameter.gradient_sum == plan::Axis::tp) sums.tp_replicated += elements;
    if (parameter.gradient_sum == plan::Axis::kv_replicas) sums.kv_replicated += elements;
  }
  return sums;
}

void add_parameters(BlockParameters& sum, const BlockParameters& other, std::int64_t times) {
  const auto n = static_cast<double>(times);
  const auto add = [n](ParameterSums& own, const ParameterSums& theirs) {
    own.trained += n * theirs.trained;
    own.tensors += n * theirs.tensors;
    own.weight_bytes += n * theirs.weight_bytes;
    own.trained_weight_bytes += n * theirs.trained_weight_bytes;
    own.state_bytes += n * theirs.state_bytes;
  };
  add(sum.dense, other.dense);
  add(sum.experts, other.experts);
  sum.tp_replicated += n * other.tp_replicated;
  sum.kv_replicated += n * other.kv_replicated;
  add(sum.tied, other.tied);
  sum.gathered_bytes += n * other.gathered_bytes;
  sum.expert_gathered_bytes += n * other.expert_gathered_bytes;
  sum.blocks += times * other.blocks;
}

StateLinks state_links(const hardware::Cluster& cluster, const plan::Plan& plan,
                       std::int64_t kv_heads) {
  const auto links = [&](plan::Axis axis) { return group_links(cluster, plan, axis, kv_heads); };
  return {links(plan::Axis::shard_group),
          links(plan::Axis::expert_shard_group),
          links(plan::Axis::tp),
          links(plan::Axis::kv_replicas),
          links(plan::Axis::embedding),
          links(plan::Axis::shard_replicas),
          links(plan::Axis::expert_shard_replicas)};
}

StateTraffic state_traffic(const StateTrafficInput& input, const StateLinks& links) {
  const BlockParameters& stage = input.parameters;
  StateTraffic traffic;
  Traffic(input, stage.dense, stage.gathered_bytes, links.sharding, links.replicas).add_to(traffic);
  if (stage.experts.weight_bytes > 0) {
    Traffic(input, stage.experts, stage.expert_gathered_bytes, links.expert_sharding,
            links.expert_replicas)
        .add_to(traffic);
  }
  const auto owners = [&](const GroupLinks& group) {
    return input.zero >= 1 ? static_cast<double>(group.topology.ranks) : 1.0;
  };
  const auto holders = [&](const GroupLinks& group) {
    return input.zero >= 2 ? static_cast<double>(group.topology.ranks) : 1.0;
  };
  const double memory = input.rates.memory_bytes_per_second;
  const double update = input.rates.update_bytes_per_second;
  traffic.accumulate = accumulate_bytes(input) *
                       (stage.dense.trained / holders(links.sharding) +
                        stage.experts.trained / holders(links.expert_sharding)) /
                       memory;
  traffic.optimizer = (optimizer_bytes(input, stage.dense, owners(links.sharding)) +
                       optimizer_bytes(input, stage.experts, owners(links.expert_sharding))) /
                      update;
  const int wire = input.profile.gradient_wire_bytes;
  if (stage.tp_replicated > 0) {
    traffic.replicas +=
        collective_seconds(Collective::all_reduce, stage.tp_replicated * wire, links.tp);
  }
  if (stage.kv_replicated > 0) {
    traffic.replicas +=
        collective_seconds(Collective::all_reduce, stage.kv_replicated * wire, links.kv_replicas);
  }
  traffic.tied =
      collective_seconds(Collective::all_reduce, stage.tied.trained * wire, links.embedding);
  add_offload(input, links, traffic);
  return traffic;
}

}  // namespace fourhold::predict
