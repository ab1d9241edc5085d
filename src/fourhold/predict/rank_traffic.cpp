#include "fourhold/predict/rank_traffic.h"

#include <algorithm>

#include "fourhold/plan/expand.h"
#include "fourhold/plan/mesh.h"
#include "fourhold/plan/parameter_gradients.h"
#include "fourhold/plan/step_scalars.h"
#include "fourhold/plan/tied_embedding.h"
#include "fourhold/predict/collectives.h"

namespace fourhold::predict {
namespace {

using plan::Axis;
using plan::Collective;
using plan::StepInstance;
using plan::Work;

class Count {
 public:
  Count(const model::ModelConfig& config, const plan::Plan& plan, const plan::Profile& profile,
        std::int64_t stage)
      : plan_(plan),
        blocks_(plan::lower_blocks(config, plan, profile)),
        program_(plan::lower(config, blocks_, plan, profile, stage, plan::ProgramKind::train_step)),
        shares_table_(plan::holds_both_ends(plan, blocks_)) {}

  RankTraffic run() {
    plan::expand(program_, blocks_, [this](const StepInstance& at) { visit(at); });
    return traffic_;
  }

 private:
  void add(Collective kind, double payload_bytes, std::int64_t ranks, std::int64_t calls = 1) {
    if (ranks <= 1) return;
    const CollectiveCost cost = collective_cost(kind, payload_bytes, ranks);
    TrafficCount& count = traffic_.of_kind[static_cast<std::size_t>(kind)];
    count.calls += calls;
    count.steps += calls * cost.steps;
    count.bytes += cost.wire_bytes;
  }
  [[nodiscard]] std::int64_t ranks(Axis axis, std::int64_t kv_heads = 1) const {
    // The middle stages of a tied embedding have no partner.
    if (axis == Axis::embedding && program_.stage != 0 && program_.stage != plan_.pp - 1) return 1;
    return plan::group_size(plan_, axis, kv_heads);
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
        return add(Collective::all_reduce, 8, ranks(Axis::world));
      default:
        if (at.block >= 0) parameters(at);
    }
  }

  void compute(const StepInstance& at) {
    const plan::OperationCollective& collective = at.step->collective;
    if (collective.kind == Collective::none || collective.kind == Collective::copy) return;
    const model::Operation& operation =
        block(at).sharded.operations.operations[static_cast<std::size_t>(at.step->operation)];
    std::int64_t calls = 1;
    if (operation.kind == model::OpKind::chunked_loss) {
      const std::int64_t rows =
          block(at)
              .sharded.operations.tensors[static_cast<std::size_t>(operation.inputs[0])]
              .shape[0]
              .size;
      calls = ceil_divide(rows, operation.forward_transients[0].shape[0].size);
    }
    add(collective.kind, static_cast<double>(at.step->payload_bytes), ranks(collective.axis),
        calls);
  }

  void send(const StepInstance& at, std::int16_t tensor) {
    const plan::ProgramTensor& leaving = block(at).tensors[static_cast<std::size_t>(tensor)];
    add(Collective::send_receive,
        static_cast<double>(bytes_of(leaving.shape.elements(), leaving.dtype)), 2);
  }

  void scalar(Work work) {
    for (const plan::StepScalar& each : plan::kStepScalars) {
      if (each.summed_by != work) continue;
      add(Collective::all_reduce, static_cast<double>(each.payload_bytes()), ranks(each.axis));
    }
  }

  void parameters(const StepInstance& at) {
    for (const plan::LocalParameter& parameter : block(at).sharded.parameters) {
      parameter_motion(at, parameter);
    }
  }

  void parameter_motion(const StepInstance& at, const plan::LocalParameter& parameter) {
    const std::int64_t sharding = ranks(parameter.expert ? Axis::expert_sharding : Axis::sharding);
    const auto bytes = [&](DType dtype) {
      return static_cast<double>(bytes_of(parameter.elements(), dtype));
    };
    const plan::Recipe& recipe = program_.recipe;
    const double pieces = static_cast<double>(sharding);
    const bool once = !(shares_table_ && plan::is_embedding_table(parameter));
    const double gradient = bytes(recipe.gradient);
    switch (at.work) {
      case Work::gather_weights:
        return add(Collective::all_gather, bytes(recipe.gathered) / pieces, sharding);
      case Work::reduce_gradients:
        return add(Collective::reduce_scatter, bytes(recipe.block_gradient), sharding);
      case Work::sum_replicas:
        if (!once || !parameter.gradient_sum) return;
        return add(Collective::all_reduce, sum_bytes(parameter),
                   ranks(*parameter.gradient_sum, plan::kv_heads_of(parameter)));
      case Work::sum_tied:
        if (!plan::holds_one_end(program_, blocks_) || !plan::is_token_table(parameter)) return;
        return add(Collective::all_reduce, sum_bytes(parameter), ranks(Axis::embedding));
      case Work::reduce_all:
        if (!once) return;
        return add(plan_.zero == 0 ? Collective::all_reduce : Collective::reduce_scatter, gradient,
                   sharding);
      case Work::gather_updated:
        if (once) add(Collective::all_gather, bytes(recipe.weight) / pieces, sharding);
        return;
      default:
        return;
    }
  }

  // Of what a rank has of a gradient after its block's reduction: the longest slice, so that ranks
  // whose slice is shorter send padding.
  [[nodiscard]] double sum_bytes(const plan::LocalParameter& parameter) const {
    const std::int64_t elements = plan_.zero >= 2
                                      ? ceil_divide(parameter.elements(), plan_.dp * plan_.cp)
                                      : parameter.elements();
    return static_cast<double>(bytes_of(elements, program_.recipe.gradient));
  }

  const plan::Plan& plan_;
  plan::ProgramBlocks blocks_;
  plan::Program program_;
  bool shares_table_;  // one for both ends, listed with the head
  RankTraffic traffic_;
};

}  // namespace

double RankTraffic::bytes() const {
  double sum = 0;
  for (const TrafficCount& count : of_kind) sum += count.bytes;
  return sum;
}

RankTraffic rank_traffic(const model::ModelConfig& config, const plan::Plan& plan,
                         const plan::Profile& profile, std::int64_t stage) {
  return Count(config, plan, profile, stage).run();
}

}  // namespace fourhold::predict
