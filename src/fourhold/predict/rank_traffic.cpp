#include "fourhold/predict/rank_traffic.h"

#include <algorithm>
#include <vector>

#include "fourhold/plan/expand.h"
#include "fourhold/plan/mesh.h"
#include "fourhold/plan/parameter_gradients.h"
#include "fourhold/plan/parameter_part.h"
#include "fourhold/plan/step_scalars.h"
#include "fourhold/plan/tied_embedding.h"
#include "fourhold/predict/collectives.h"

namespace fourhold::predict {
namespace {

using plan::Axis;
using plan::Collective;
using plan::StepInstance;
using plan::Work;

// What is cut into one piece for each member: whole items of so many bytes.
struct Items {
  std::int64_t count = 0;
  std::int64_t item_bytes = 1;
  [[nodiscard]] std::int64_t bytes() const { return count * item_bytes; }
};
Items in_bytes(std::int64_t bytes) { return {.count = bytes}; }

// Bytes that member `place` of `ranks` sends.
std::int64_t sent_bytes(Collective kind, const Items& whole, std::int64_t ranks,
                        std::int64_t place) {
  const std::int64_t own = plan::piece_of(whole.count, ranks, place).elements() * whole.item_bytes;
  switch (kind) {
    case Collective::none:
    case Collective::copy:
      return 0;
    case Collective::all_gather:
    case Collective::ring:
      return own * (ranks - 1);
    case Collective::reduce_scatter:
    case Collective::all_to_all:
      return whole.bytes() - own;
    case Collective::all_reduce:
    case Collective::reduce_scalars:
      return whole.bytes() - own + own * (ranks - 1);
    case Collective::send_receive:
      return whole.bytes();
  }
  return 0;
}

class Count {
 public:
  Count(const model::ModelConfig& config, const plan::Plan& plan, const plan::Profile& profile,
        std::int64_t rank)
      : plan_(plan),
        rank_(rank),
        blocks_(plan::lower_blocks(config, plan, profile)),
        program_(plan::lower(config, blocks_, plan, profile, plan::coordinates(plan, rank).pp,
                             plan::ProgramKind::train_step)),
        shares_table_(plan::holds_both_ends(plan, blocks_)) {}

  RankTraffic run() {
    plan::expand(program_, blocks_, [this](const StepInstance& at) { visit(at); });
    return traffic_;
  }

 private:
  struct Members {
    std::int64_t ranks = 1;
    std::int64_t place = 0;  // of this rank
  };

  void add(Collective kind, const Items& whole, const Members& members) {
    if (members.ranks <= 1) return;
    TrafficCount& count = traffic_.of_kind[static_cast<std::size_t>(kind)];
    ++count.calls;
    count.steps += collective_cost(kind, 0, members.ranks).steps;
    count.bytes += sent_bytes(kind, whole, members.ranks, members.place);
  }
  [[nodiscard]] Members members(Axis axis, std::int64_t kv_heads = 1) const {
    const std::vector<std::int64_t> group = plan::group_of(plan_, axis, rank_, kv_heads);
    return {static_cast<std::int64_t>(group.size()),
            std::find(group.begin(), group.end(), rank_) - group.begin()};
  }
  [[nodiscard]] const plan::ProgramBlock& block(const StepInstance& at) const {
    return blocks_.blocks[static_cast<std::size_t>(at.block)];
  }

  void visit(const StepInstance& at) {
    switch (at.work) {
      case Work::compute:
        return compute(at);
      case Work::send_activation:
        return send(at, block(at).output);
      case Work::send_gradient:
        return send(at, block(at).input_gradient);
      case Work::count_tokens:
      case Work::reduce_loss:
      case Work::gradient_norm:
        return scalar(at.work);
      case Work::clip:  // all agree that what they are to write is finite
        return add(Collective::all_reduce, {.count = 1, .item_bytes = 8}, members(Axis::world));
      default:
        if (at.block >= 0) parameters(at);
    }
  }

  void compute(const StepInstance& at) {
    const plan::OperationCollective& collective = at.step->collective;
    if (collective.kind == Collective::none || collective.kind == Collective::copy) return;
    const Members own = members(collective.axis);
    const std::int64_t payload_bytes = at.step->payload_bytes;
    switch (collective.kind) {
      case Collective::all_gather:
      case Collective::ring:  // the payload is the rank's own piece
        return add(collective.kind, in_bytes(payload_bytes * own.ranks), own);
      case Collective::reduce_scalars:
        return scalars_of_rows(at, payload_bytes, own);
      default: {
        const model::Operation& operation = operation_of(at);
        const DType dtype = block(at).tensors[static_cast<std::size_t>(operation.inputs[0])].dtype;
        const std::int64_t element_bytes = bytes_of(1, dtype);
        return add(collective.kind, {payload_bytes / element_bytes, element_bytes}, own);
      }
    }
  }

  [[nodiscard]] const model::Operation& operation_of(const StepInstance& at) const {
    return block(at).sharded.operations.operations[static_cast<std::size_t>(at.step->operation)];
  }

  // A few numbers for each row, which travel together; all rows at once, or chunk by chunk.
  void scalars_of_rows(const StepInstance& at, std::int64_t payload_bytes, const Members& own) {
    const model::Operation& operation = operation_of(at);
    const std::int64_t rows =
        block(at)
            .sharded.operations.tensors[static_cast<std::size_t>(operation.inputs[0])]
            .shape[0]
            .size;
    const std::int64_t chunk = operation.kind == model::OpKind::chunked_loss
                                   ? operation.forward_transients[0].shape[0].size
                                   : rows;
    for (std::int64_t first = 0; first < rows; first += chunk) {
      add(Collective::reduce_scalars, {std::min(chunk, rows - first), payload_bytes / rows}, own);
    }
  }

  void send(const StepInstance& at, std::int16_t tensor) {
    const plan::ProgramTensor& leaving = block(at).tensors[static_cast<std::size_t>(tensor)];
    add(Collective::send_receive, in_bytes(bytes_of(leaving.shape.elements(), leaving.dtype)),
        {.ranks = 2});
  }

  void scalar(Work work) {
    for (const plan::StepScalar& each : plan::kStepScalars) {
      if (each.summed_by != work) continue;
      add(Collective::all_reduce, {.count = 1, .item_bytes = each.payload_bytes()},
          members(each.axis));
    }
  }

  void parameters(const StepInstance& at) {
    for (const plan::LocalParameter& parameter : block(at).sharded.parameters) {
      parameter_motion(at, parameter);
    }
  }

  void parameter_motion(const StepInstance& at, const plan::LocalParameter& parameter) {
    const Members sharding =
        members(parameter.expert ? Axis::expert_shard_group : Axis::shard_group);
    const auto elements = [&](DType dtype) {
      return Items{parameter.elements(), bytes_of(1, dtype)};
    };
    const plan::Recipe& recipe = program_.recipe;
    const bool once = !(shares_table_ && plan::is_embedding_table(parameter));
    switch (at.work) {
      case Work::gather_weights:
        return add(Collective::all_gather, elements(recipe.gathered), sharding);
      case Work::reduce_gradients:
        return add(Collective::reduce_scatter, elements(recipe.block_gradient), sharding);
      case Work::sum_replicas:
        if (!once || !parameter.gradient_sum) return;
        return add(Collective::all_reduce, summed(parameter),
                   members(*parameter.gradient_sum, plan::kv_heads_of(parameter)));
      case Work::sum_tied:
        if (!plan::holds_one_end(program_, blocks_) || !plan::is_token_table(parameter)) return;
        return add(Collective::all_reduce, summed(parameter), members(Axis::embedding));
      case Work::reduce_all:
        if (!once) return;
        add(plan_.zero == 0 ? Collective::all_reduce : Collective::reduce_scatter,
            elements(recipe.gradient), sharding);
        return sum_shard_replicas(parameter, sharding);
      case Work::gather_updated:
        if (once) add(Collective::all_gather, elements(recipe.weight), sharding);
        return;
      default:
        return;
    }
  }

  // Shards of one place are summed over the groups that each hold all of them.
  void sum_shard_replicas(const plan::LocalParameter& parameter, const Members& sharding) {
    const auto shard = plan::piece_of(parameter.elements(), sharding.ranks, sharding.place);
    add(Collective::all_reduce, {shard.elements(), bytes_of(1, program_.recipe.gradient)},
        members(parameter.expert ? Axis::expert_shard_replicas : Axis::shard_replicas));
  }

  // Of what a rank has of a gradient after its block's reduction: the longest slice, so that ranks
  // whose slice is shorter send padding.
  [[nodiscard]] Items summed(const plan::LocalParameter& parameter) const {
    const std::int64_t elements = plan_.zero >= 2
                                      ? ceil_divide(parameter.elements(), plan_.dp * plan_.cp)
                                      : parameter.elements();
    return {elements, bytes_of(1, program_.recipe.gradient)};
  }

  const plan::Plan& plan_;
  std::int64_t rank_;
  plan::ProgramBlocks blocks_;
  plan::Program program_;
  bool shares_table_;  // one for both ends, listed with the head
  RankTraffic traffic_;
};

}  // namespace

std::int64_t RankTraffic::bytes() const {
  std::int64_t sum = 0;
  for (const TrafficCount& count : of_kind) sum += count.bytes;
  return sum;
}

RankTraffic rank_traffic(const model::ModelConfig& config, const plan::Plan& plan,
                         const plan::Profile& profile, std::int64_t rank) {
  return Count(config, plan, profile, rank).run();
}

}  // namespace fourhold::predict
