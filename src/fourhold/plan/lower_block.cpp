// From a block's operations to its steps: forward as listed, backward in reverse, with
// recomputation where a step first needs what was dropped.
#include <algorithm>
#include <cassert>
#include <utility>

#include "fourhold/plan/gradient_flow.h"
#include "fourhold/plan/program.h"
#include "fourhold/plan/recompute.h"

namespace fourhold::plan {
namespace {

using ledger::Category;
using ledger::Role;
using model::BlockOperations;
using model::Operation;
using model::OpKind;
using model::TensorId;

class BlockLowering {
 public:
  BlockLowering(ShardedBlock block, const RecomputePolicy& policy)
      : decision_(decide_recompute(block, policy)) {
    result_.sharded = std::move(block);
    const std::size_t values = ops().tensors.size();
    gradient_.assign(values, -1);
    available_.assign(values, 0);
    needs_gradient_.assign(values, 0);
    result_.tensors.reserve(2 * values + 16);
    result_.forward.reserve(ops().operations.size());
    result_.backward.reserve(2 * ops().operations.size());
    for (std::size_t i = 0; i < values; ++i) add_value(static_cast<TensorId>(i));
    result_.input = ops().input;
    result_.output = ops().output;
  }

  ProgramBlock run() {
    mark_gradients();
    for (std::size_t i = 0; i < ops().operations.size(); ++i) forward(i);
    if (ops().block != model::Block::head) {
      result_.output_gradient = new_gradient(ops().output);
    }
    for (std::size_t i = ops().operations.size(); i-- > 0;) backward(i);
    let_go_of_unread();
    if (ops().block != model::Block::embedding) result_.input_gradient = gradient_of(ops().input);
    return std::move(result_);
  }

 private:
  [[nodiscard]] const BlockOperations& ops() const { return result_.sharded.operations; }
  [[nodiscard]] const Operation& op(std::size_t index) const { return ops().operations[index]; }
  [[nodiscard]] std::size_t root(TensorId id) const {
    return static_cast<std::size_t>(model::storage_of(ops(), id));
  }
  [[nodiscard]] ProgramTensor& tensor(std::int16_t id) {
    return result_.tensors[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] std::int16_t gradient_of(TensorId id) const {
    return gradient_[static_cast<std::size_t>(id)];
  }

  void add_value(TensorId id) {
    const model::Tensor& source = ops().tensors[static_cast<std::size_t>(id)];
    ProgramTensor value;
    value.name = source.name;
    value.variant = source.variant;
    value.layer = source.layer;
    value.dtype = source.dtype;
    value.shape = source.shape;
    value.storage = static_cast<std::int16_t>(root(id));
    value.kept = decision_.kept[static_cast<std::size_t>(id)] != 0;
    const bool from_outside =
        source.name == model::TensorName::token_ids || source.name == model::TensorName::targets;
    if (from_outside) {
      value.category = Category::input;
    } else if (source.name == model::TensorName::head_input_gradient) {
      value.category = Category::activation_gradient;
    } else {
      value.category = value.kept ? Category::saved_activation : Category::scratch;
    }
    result_.tensors.push_back(value);
  }

  // With frozen weights nothing may be left that reads a saved tensor.
  void let_go_of_unread() {
    std::vector<std::uint8_t> touched(result_.tensors.size(), 0);
    for (const Step& step : result_.backward) {
      for (const Access& access : step.accesses) {
        touched[static_cast<std::size_t>(tensor(access.tensor).storage)] = 1;
      }
    }
    for (std::size_t i = 0; i < touched.size(); ++i) {
      ProgramTensor& value = result_.tensors[i];
      if (!value.kept || touched[i] != 0) continue;
      value.kept = false;
      if (value.category == Category::saved_activation) value.category = Category::scratch;
    }
  }

  // A tensor needs a gradient if a trainable parameter or the block's input lies behind it.
  void mark_gradients() {
    if (ops().block != model::Block::embedding) mark(ops().input);
    for (std::size_t i = 0; i < ops().operations.size(); ++i) {
      bool any = false;
      for (int k = 0; k < op(i).inputs.size(); ++k) {
        any = any || (takes_gradient(op(i), k) && needs(op(i).inputs[k]));
      }
      for (const std::int16_t parameter : op(i).parameters) any = any || trainable(parameter);
      if (!any) continue;
      for (int k = 0; k < op(i).outputs.size(); ++k) {
        if (carries_gradient(op(i), k)) mark(op(i).outputs[k]);
      }
    }
  }
  void mark(TensorId id) { needs_gradient_[static_cast<std::size_t>(id)] = 1; }
  [[nodiscard]] bool needs(TensorId id) const {
    return needs_gradient_[static_cast<std::size_t>(id)] != 0;
  }
  [[nodiscard]] bool trainable(std::int16_t parameter) const {
    return result_.sharded.parameters[static_cast<std::size_t>(parameter)].use.trainable;
  }

  std::int16_t new_tensor(const ProgramTensor& made) {
    result_.tensors.push_back(made);
    const auto id = static_cast<std::int16_t>(result_.tensors.size() - 1);
    if (tensor(id).storage < 0) tensor(id).storage = id;
    return id;
  }

  // A gradient tensor of its own storage, or sharing that of tensor `shares`.
  std::int16_t new_gradient(TensorId id, std::int16_t shares = -1) {
    const ProgramTensor& value = tensor(id);
    ProgramTensor made;
    made.name = value.name;
    made.variant = value.variant;
    made.layer = value.layer;
    made.role = Role::gradient;
    made.category = Category::activation_gradient;
    made.dtype = value.dtype;
    made.shape = value.shape;
    made.gradient_of = id;
    if (shares >= 0) made.storage = tensor(shares).storage;
    const std::int16_t gradient = new_tensor(made);
    gradient_[static_cast<std::size_t>(id)] = gradient;
    return gradient;
  }

  void add_transients(Step& step, const InlineVector<model::Transient, 3>& transients) {
    for (const model::Transient& transient : transients) {
      ProgramTensor made;
      made.name = transient.name;
      made.layer = op(static_cast<std::size_t>(step.operation)).layer;
      made.role = Role::transient;
      made.dtype = transient.dtype;
      made.shape = transient.shape;
      step.accesses.push_back({new_tensor(made), AccessMode::write});
    }
  }

  [[nodiscard]] std::int64_t bytes(std::int16_t id) const {
    const ProgramTensor& t = result_.tensors[static_cast<std::size_t>(id)];
    return bytes_of(t.shape.elements(), t.dtype);
  }

  [[nodiscard]] Step new_step(std::size_t index, Phase phase) const {
    Step step;
    step.phase = phase;
    step.operation = static_cast<std::int16_t>(index);
    return step;
  }

  // What an operation hands to its collective when run forward: its input, k and v of a ring, three
  // fp32 numbers per token of a split loss, one of a split norm.
  [[nodiscard]] std::int64_t forward_payload(std::size_t index, Collective kind) const {
    const Operation& operation = op(index);
    switch (kind) {
      case Collective::none:
      case Collective::copy:
        return 0;
      case Collective::ring:
        return bytes(operation.inputs[1]) + bytes(operation.inputs[2]);
      case Collective::reduce_scalars: {
        const std::int64_t tokens =
            ops().tensors[static_cast<std::size_t>(operation.inputs[0])].shape[0].size;
        return 4 * tokens * (operation.kind == OpKind::norm ? 1 : 3);
      }
      default:
        return bytes(operation.inputs[0]);
    }
  }

  void run_forward(std::size_t index, Phase phase, std::vector<Step>& steps) {
    const Operation& operation = op(index);
    Step step = new_step(index, phase);
    step.collective = result_.sharded.collectives[index];
    step.payload_bytes = forward_payload(index, step.collective.kind);
    for (const TensorId in : operation.inputs) step.accesses.push_back({in, AccessMode::read});
    for (const TensorId out : operation.outputs) {
      // Run again, an operation rewrites only what was dropped.
      if (phase == Phase::recompute && available_[root(out)] != 0 &&
          decision_.kept[root(out)] != 0) {
        continue;
      }
      step.accesses.push_back({out, AccessMode::write});
    }
    for (const std::int16_t parameter : operation.parameters) {
      step.reads_parameters.push_back(parameter);
    }
    add_transients(step, operation.forward_transients);
    if (operation.kind == OpKind::chunked_loss && phase == Phase::forward) {
      for (const std::int16_t parameter : operation.parameters) {
        if (trainable(parameter)) step.writes_gradients.push_back(parameter);
      }
    }
    steps.push_back(step);
  }

  void forward(std::size_t index) {
    run_forward(index, Phase::forward, result_.forward);
    for (const TensorId out : op(index).outputs) available_[root(out)] = decision_.kept[root(out)];
  }

  // Makes the storage of `id` again, with everything its segment makes.
  void make_available(TensorId id) {
    const std::size_t storage = root(id);
    if (available_[storage] != 0 || decision_.kept[storage] != 0) return;
    for (std::size_t i = 0; i < ops().operations.size(); ++i) {
      if (decision_.segment[i] == kNotRemade || !makes(i, storage)) continue;
      remake_segment(decision_.segment[i]);
      return;
    }
  }
  [[nodiscard]] bool makes(std::size_t index, std::size_t storage) const {
    return std::any_of(op(index).outputs.begin(), op(index).outputs.end(),
                       [&](TensorId out) { return root(out) == storage; });
  }
  void remake_segment(std::int16_t segment) {
    for (std::size_t i = 0; i < ops().operations.size(); ++i) {
      if (decision_.segment[i] != segment) continue;
      for (const TensorId in : op(i).inputs) make_available(in);
      run_forward(i, Phase::recompute, result_.backward);
      for (const TensorId out : op(i).outputs) available_[root(out)] = 1;
    }
  }

  // True if another value's gradient shares this storage and will still be read: that value's
  // operation comes later in backward, or it is the block's input.
  [[nodiscard]] bool shared_later(std::int16_t gradient, std::size_t index, TensorId own) const {
    const std::int16_t storage = result_.tensors[static_cast<std::size_t>(gradient)].storage;
    for (std::size_t value = 0; value < gradient_.size(); ++value) {
      const std::int16_t other = gradient_[value];
      if (other < 0 || static_cast<TensorId>(value) == own) continue;
      if (result_.tensors[static_cast<std::size_t>(other)].storage != storage) continue;
      if (static_cast<TensorId>(value) == ops().input) return true;
      for (std::size_t i = 0; i < index; ++i) {
        if (op(i).outputs.contains(static_cast<TensorId>(value))) return true;
      }
    }
    return false;
  }

  void backward(std::size_t index) {
    const Operation& operation = op(index);
    const OperationCollective forward_collective = result_.sharded.collectives[index];
    bool any_gradient = operation.kind == OpKind::cross_entropy;
    for (int k = 0; k < operation.outputs.size(); ++k) {
      any_gradient = any_gradient ||
                     (carries_gradient(operation, k) && gradient_of(operation.outputs[k]) >= 0);
    }
    if (operation.kind == OpKind::chunked_loss) {
      // Its forward made the gradient already.
      gradient_[static_cast<std::size_t>(operation.inputs[0])] = operation.outputs[1];
      tensor(operation.outputs[1]).gradient_of = operation.inputs[0];
      return;
    }
    if (!any_gradient) return;
    if (passes_gradient_on(operation, forward_collective.kind)) {
      pass_on(index);
      return;
    }
    for (const TensorId id : operation.saved) make_available(id);
    Step step = new_step(index, Phase::backward);
    for (int k = 0; k < operation.outputs.size(); ++k) {
      const std::int16_t gradient = gradient_of(operation.outputs[k]);
      if (carries_gradient(operation, k) && gradient >= 0) {
        step.accesses.push_back({gradient, AccessMode::read});
      }
    }
    for (const TensorId id : operation.saved) step.accesses.push_back({id, AccessMode::read});
    for (int k = 0; k < operation.inputs.size(); ++k) write_input_gradient(index, k, step);
    for (const std::int16_t parameter : operation.parameters) {
      step.reads_parameters.push_back(parameter);
      if (trainable(parameter)) step.writes_gradients.push_back(parameter);
    }
    if (!writes_something(step)) return;
    add_transients(step, operation.backward_transients);
    set_backward_collective(forward_collective, index, step);
    result_.backward.push_back(step);
  }

  // With frozen weights there may be nothing behind an operation that wants a gradient.
  [[nodiscard]] static bool writes_something(const Step& step) {
    return !step.writes_gradients.empty() ||
           std::any_of(step.accesses.begin(), step.accesses.end(),
                       [](const Access& access) { return access.mode != AccessMode::read; });
  }

  void write_input_gradient(std::size_t index, int k, Step& step) {
    const Operation& operation = op(index);
    const TensorId in = operation.inputs[k];
    if (!takes_gradient(operation, k) || !needs(in)) return;
    if (const std::int16_t existing = gradient_of(in); existing >= 0) {
      assert(!shared_later(existing, index, in) &&
             "a gradient is added to before all have read it");
      step.accesses.push_back({existing, AccessMode::accumulate});
      return;
    }
    std::int16_t shares = -1;
    if (operation.gradient_in_place_of != model::kNoTensor && k == 0) {
      shares = tensor(operation.gradient_in_place_of).storage;
    } else if (works_in_place(operation, result_.sharded.collectives[index].kind)) {
      const std::int16_t incoming = gradient_of(operation.outputs[0]);
      if (!shared_later(incoming, index, operation.outputs[0])) shares = incoming;
    }
    step.accesses.push_back({new_gradient(in, shares), AccessMode::write});
  }

  // The gradient of every input is the incoming one itself. An input that already has a gradient
  // takes it as an addend instead.
  void pass_on(std::size_t index) {
    const Operation& operation = op(index);
    const std::int16_t incoming = gradient_of(operation.outputs[0]);
    Step step = new_step(index, Phase::backward);
    step.accesses.push_back({incoming, AccessMode::read});
    for (int k = 0; k < operation.inputs.size(); ++k) {
      const TensorId in = operation.inputs[k];
      if (!takes_gradient(operation, k) || !needs(in)) continue;
      if (const std::int16_t existing = gradient_of(in); existing >= 0) {
        step.accesses.push_back({existing, AccessMode::accumulate});
      } else {
        step.accesses.push_back({new_gradient(in, incoming), AccessMode::write});
      }
    }
    for (const std::int16_t parameter : operation.parameters) {
      if (trainable(parameter)) step.writes_gradients.push_back(parameter);
    }
    if (writes_something(step)) result_.backward.push_back(step);
  }

  void set_backward_collective(OperationCollective forward_collective, std::size_t index,
                               Step& step) {
    const auto incoming = [&] { return bytes(gradient_of(op(index).outputs[0])); };
    switch (forward_collective.kind) {
      case Collective::all_gather:
        step.collective = {Collective::reduce_scatter, forward_collective.axis};
        step.payload_bytes = incoming();
        break;
      case Collective::reduce_scatter:
        step.collective = {Collective::all_gather, forward_collective.axis};
        step.payload_bytes = incoming();
        break;
      case Collective::copy:
        step.collective = {Collective::all_reduce, forward_collective.axis};
        step.payload_bytes = incoming();
        break;
      case Collective::all_to_all:
        step.collective = forward_collective;
        step.payload_bytes = incoming();
        break;
      case Collective::ring:
        // k and v pass round again, and their gradients with them.
        step.collective = forward_collective;
        step.payload_bytes = 2 * forward_payload(index, forward_collective.kind);
        break;
      case Collective::reduce_scalars:
        if (op(index).kind == OpKind::norm) {
          step.collective = forward_collective;
          step.payload_bytes = forward_payload(index, forward_collective.kind);
        }
        break;
      default:
        break;
    }
  }

  RecomputeDecision decision_;
  ProgramBlock result_;
  std::vector<std::int16_t> gradient_;        // per value: its gradient tensor, -1 none yet
  std::vector<std::uint8_t> available_;       // per storage: exists at this point of backward
  std::vector<std::uint8_t> needs_gradient_;  // per value
};

}  // namespace

ProgramBlock lower_block(ShardedBlock block, const RecomputePolicy& policy) {
  return BlockLowering(std::move(block), policy).run();
}

}  // namespace fourhold::plan
