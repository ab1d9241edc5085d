#include "fourhold/predict/block_time.h"

#include <algorithm>
#include <cmath>

#include "fourhold/predict/host_operations.h"

namespace fourhold::predict {
namespace {

using plan::Axis;
using plan::Collective;
using plan::Phase;

constexpr double kRingHidden = 0.8;  // share of attention that hides the exchange of k and v
constexpr double kSharpness = 12;

class Timing {
 public:
  Timing(const plan::ProgramBlock& block, const BlockTimeInput& input)
      : block_(block), input_(input) {}

  BlockTime run() {
    for (const plan::Step& step : block_.forward) add(step);
    for (const plan::Step& step : block_.backward) add(step);
    add_host();
    return time_;
  }

 private:
  void add(const plan::Step& step) {
    const StepWork work = step_work(block_, step, input_.sizes);
    const double seconds = step_seconds(work, step.phase, input_.rates);
    const bool forward = step.phase == Phase::forward;
    PartSeconds& parts = forward ? time_.forward : time_.backward;
    if (step.phase == Phase::recompute) {
      parts.recompute += seconds;
      time_.recomputed_flops += work.model_flops;
    } else {
      parts.compute += seconds;
      time_.model_flops += work.model_flops;
    }
    const bool routes =
        operation_of(step).kind == model::OpKind::router && input_.routing_seconds > 0;
    (forward ? host_forward_ : host_backward_) +=
        (work.host_operations * input_.rates.host_seconds_per_operation +
         (routes ? input_.routing_seconds : 0)) *
        (step.phase == Phase::backward ? kBackwardHostOperations : 1);
    communicate(step, seconds, parts);
  }

  [[nodiscard]] const model::Operation& operation_of(const plan::Step& step) const {
    return block_.sharded.operations.operations[static_cast<std::size_t>(step.operation)];
  }

  // Layers that each reduce the gradient of what this step passes them.
  [[nodiscard]] int reductions(const plan::Step& step) const {
    const bool sums = step.phase == Phase::backward &&
                      step.collective.kind == Collective::all_reduce &&
                      operation_of(step).kind == model::OpKind::enter_branch;
    if (!sums || input_.gate_and_up == plan::GateAndUp::one_layer) return 1;
    int widening = 0;
    for (const model::Operation& operation : block_.sharded.operations.operations) {
      const bool reads = operation.kind == model::OpKind::linear &&
                         operation.inputs[0] == operation_of(step).outputs[0];
      if (reads && operation.packed == model::PackedGroup::gate_up) ++widening;
    }
    return std::max(1, widening);
  }

  // Experts of one token: rows of the permuted tokens for each.
  [[nodiscard]] double copies() const {
    const auto rows = [this](std::int16_t tensor) {
      return static_cast<double>(block_.tensors[static_cast<std::size_t>(tensor)].shape[0].size);
    };
    for (const model::Operation& operation : block_.sharded.operations.operations) {
      if (operation.kind != model::OpKind::permute) continue;
      return std::max(1.0, rows(operation.outputs[0]) / rows(operation.inputs[0]));
    }
    return 1;
  }

  void communicate(const plan::Step& step, double seconds, PartSeconds& parts) {
    const auto payload = static_cast<double>(step.payload_bytes);
    const Collective kind = step.collective.kind;
    switch (step.collective.axis) {
      case Axis::tp:
        starts_ += reductions(step) * collective_seconds(kind, 0, input_.links.tp);
        parts.tensor_parallel += (1 - input_.tensor_overlap) * reductions(step) *
                                 collective_seconds(kind, payload, input_.links.tp);
        break;
      case Axis::cp:
        parts.context_parallel += std::max(
            0.0, collective_seconds(kind, payload, input_.links.cp) - kRingHidden * seconds);
        break;
      case Axis::ep:
        parts.expert_parallel += kind == Collective::all_to_all
                                     ? routed_exchange_seconds(payload, copies(), input_.links.ep)
                                     : collective_seconds(kind, payload, input_.links.ep);
        break;
      default:
        break;
    }
  }

  void add_host() {
    const double device = time_.seconds();
    const double host = host_forward_ + host_backward_;
    double seconds = sharp_maximum(device, host);
    if (input_.layer_floor_seconds > 0 && block_.sharded.operations.block == model::Block::layer) {
      seconds = std::max(seconds, host + starts_ + input_.layer_floor_seconds);
    }
    // Without any host time a stall is shared like the device's.
    const double share = host > 0     ? host_forward_ / host
                         : device > 0 ? time_.forward.total() / device
                                      : 0;
    time_.forward.host = (seconds - device) * share;
    time_.backward.host = (seconds - device) * (1 - share);
  }

  [[nodiscard]] static double sharp_maximum(double a, double b) {
    const double larger = std::max(a, b);
    if (larger <= 0) return 0;
    return larger * std::pow(std::pow(a / larger, kSharpness) + std::pow(b / larger, kSharpness),
                             1 / kSharpness);
  }

  const plan::ProgramBlock& block_;
  const BlockTimeInput& input_;
  BlockTime time_;
  double host_forward_ = 0;  // seconds
  double host_backward_ = 0;
  double starts_ = 0;  // of collectives over tp
};

}  // namespace

BlockTime block_time(const plan::ProgramBlock& block, const BlockTimeInput& input) {
  return Timing(block, input).run();
}

}  // namespace fourhold::predict
