#include "fourhold/predict/stage_ledger.h"

#include <string>

#include "fourhold/predict/entry_names.h"

namespace fourhold::predict {
namespace {

using ledger::Category;
using ledger::Entry;
using ledger::Role;

class Builder {
 public:
  Builder(const StageLedgerInput& input, const StageWalk& walk)
      : input_(input), walk_(walk), peak_(walk.peak) {
    ledger_.entries.reserve(entry_count());
  }

  ledger::Ledger run() {
    for (std::size_t i = 0; i < input_.instances.size(); ++i) {
      if (input_.instances[i] == 0) continue;
      index_ = i;
      steps_ = static_cast<std::int64_t>(block().forward.size() + block().backward.size());
      for (std::size_t p = 0; p < state().parameters.size(); ++p) parameter(p);
      for (const StorageLife& life : lifetimes().storages) activation(life);
    }
    for (const StageTensor& tensor : input_.tensors) stage_tensor(tensor);
    ledger_.live_peak_bytes = Bytes(peak_.bytes);
    ledger_.peak_step = peak_text();
    return std::move(ledger_);
  }

 private:
  // Exact, because growing a list of entries costs more than making them.
  [[nodiscard]] std::size_t entry_count() const {
    std::size_t count = input_.tensors.size();
    for (std::size_t i = 0; i < input_.instances.size(); ++i) {
      if (input_.instances[i] == 0) continue;
      count += (*input_.walk.lifetimes)[i].storages.size();
      for (const ParameterState& parameter : (*input_.walk.states)[i].parameters) {
        count += static_cast<std::size_t>(parameter.resident.size()) +
                 (parameter.gradient.elements > 0 ? 1 : 0) +
                 (parameter.gathered_bytes > 0 ? 1 : 0) +
                 (parameter.block_gradient_bytes > 0 ? 1 : 0);
      }
    }
    return count;
  }

  [[nodiscard]] const plan::ProgramBlock& block() const {
    return input_.walk.blocks->blocks[index_];
  }
  [[nodiscard]] const BlockState& state() const { return (*input_.walk.states)[index_]; }
  [[nodiscard]] const BlockLifetimes& lifetimes() const { return (*input_.walk.lifetimes)[index_]; }
  [[nodiscard]] std::int64_t instances() const { return input_.instances[index_]; }
  [[nodiscard]] bool at_work() const { return peak_.block == static_cast<std::int16_t>(index_); }

  Entry& add(std::string_view name, std::string_view variant, Role role, std::int32_t own_layer) {
    Entry& entry = ledger_.entries.emplace_back();
    entry.key.block = to_string(block().sharded.operations.block);
    entry.key.name = name;
    entry.key.variant = variant;
    entry.key.role = role;
    entry.key.layer =
        layer_in_key(own_layer, static_cast<std::int32_t>(input_.first_layer[index_]));
    entry.last_step = steps_ - 1;
    return entry;
  }
  Entry& add(const model::BlockParameter& use, Role role) {
    return add(to_string(use.parameter.name), variant_text(use.variant), role, use.layer);
  }

  void resident(const plan::LocalParameter& parameter, const ResidentTensor& tensor,
                std::int64_t copies_at_peak) {
    Entry& entry = add(parameter.use, tensor.role);
    // A slice of a sharded tensor is flat.
    entry.shape =
        tensor.elements == parameter.elements() ? dims_of(parameter.shape) : Dims{tensor.elements};
    entry.dtype = tensor.dtype;
    entry.bytes = Bytes(tensor.bytes());
    entry.category = tensor.category;
    entry.place = tensor.place;
    entry.copies = instances();
    entry.copies_at_peak = tensor.place == ledger::Place::device ? copies_at_peak : 0;
  }

  void parameter(std::size_t p) {
    const plan::LocalParameter& parameter = block().sharded.parameters[p];
    const ParameterState& own = state().parameters[p];
    for (const ResidentTensor& tensor : own.resident) resident(parameter, tensor, instances());
    const Birth birth = birth_of(static_cast<std::int16_t>(p));
    if (own.gradient.elements > 0) {
      resident(parameter, own.gradient, accumulators_at_peak(birth));
    }
    if (own.gathered_bytes > 0) gathered(parameter, own);
    if (own.block_gradient_bytes > 0) whole_gradient(parameter, own, birth);
  }

  // When the parameter's gradient comes to life within its block.
  struct Birth {
    bool in_forward = false;
    std::int32_t step = -1;
  };
  [[nodiscard]] Birth birth_of(std::int16_t parameter) const {
    for (const GradientBirth& birth : lifetimes().forward.births) {
      if (birth.parameter == parameter) return {true, birth.step};
    }
    for (const GradientBirth& birth : lifetimes().backward.births) {
      if (birth.parameter == parameter) return {false, birth.step};
    }
    return {};
  }

  [[nodiscard]] bool born_at_work(const Birth& birth) const {
    if (!at_work()) return false;
    if (peak_.moment == Moment::forward) {
      return birth.in_forward && (peak_.forward_gradients_waiting || birth.step <= peak_.step);
    }
    return birth.in_forward || peak_.moment == Moment::reduce_block || birth.step <= peak_.step;
  }

  [[nodiscard]] std::int64_t accumulators_at_peak(const Birth& birth) const {
    if (input_.walk.gradient_lifetime == plan::GradientLifetime::persistent) return instances();
    const std::int64_t born = peak_.born[index_];
    if (input_.walk.program->motion.reduces_each_block) {
      const bool now = at_work() && peak_.moment == Moment::reduce_block && peak_.first_backward;
      return born + (now ? 1 : 0);
    }
    if (birth.in_forward && peak_.forward_gradients_waiting) return instances();
    const bool now =
        peak_.first_backward && peak_.moment != Moment::optimizer && born_at_work(birth);
    return born + (now ? 1 : 0);
  }

  void gathered(const plan::LocalParameter& parameter, const ParameterState& own) {
    Entry& entry = add(parameter.use, Role::gathered);
    entry.shape = dims_of(parameter.shape);
    entry.dtype = own.gathered_dtype;
    entry.bytes = Bytes(own.gathered_bytes);
    entry.category = Category::gathered_weight;
    entry.copies = instances() > 1 ? 2 : 1;
    const bool used = at_work() && peak_.moment != Moment::reduce_block;
    const bool ahead = peak_.gathered_next == static_cast<std::int16_t>(index_);
    entry.copies_at_peak = (used ? 1 : 0) + (ahead ? 1 : 0);
  }

  void whole_gradient(const plan::LocalParameter& parameter, const ParameterState& own,
                      const Birth& birth) {
    Entry& entry = add(parameter.use, Role::whole_gradient);
    entry.shape = dims_of(parameter.shape);
    entry.dtype = own.block_gradient_dtype;
    entry.bytes = Bytes(own.block_gradient_bytes);
    entry.category = Category::gradient;
    const bool waiting = birth.in_forward && peak_.forward_gradients_waiting;
    const bool now = peak_.moment != Moment::optimizer && born_at_work(birth);
    entry.copies_at_peak = waiting || now ? 1 : 0;
  }

  void activation(const StorageLife& life) {
    const plan::ProgramTensor& tensor = block().tensors[static_cast<std::size_t>(life.tensor)];
    Entry& entry =
        add(to_string(tensor.name), variant_text(tensor.variant), tensor.role, tensor.layer);
    entry.shape = dims_of(tensor.shape);
    entry.dtype = tensor.dtype;
    entry.bytes = Bytes(life.bytes);
    entry.category = tensor.category;
    const auto forward_steps = static_cast<std::int64_t>(block().forward.size());
    const bool in_forward = life.forward.first <= life.forward.last;
    const bool in_backward = life.backward.first <= life.backward.last;
    entry.first_step = in_forward ? life.forward.first : forward_steps + life.backward.first;
    entry.last_step = in_backward ? forward_steps + life.backward.last : life.forward.last;
    entry.copies = tensor.kept ? walk_.most_kept[index_] : 1;
    bool now = false;
    if (at_work()) {
      if (peak_.moment == Moment::forward) now = life.forward.alive_at(peak_.step);
      if (peak_.moment == Moment::backward) now = life.backward.alive_at(peak_.step);
      if (peak_.moment == Moment::reduce_block) now = is_input_gradient(life.tensor);
    }
    entry.copies_at_peak = (tensor.kept ? peak_.kept[index_] : 0) + (now ? 1 : 0);
  }
  [[nodiscard]] bool is_input_gradient(std::int16_t storage) const {
    const std::int16_t gradient = block().input_gradient;
    return gradient >= 0 && block().tensors[static_cast<std::size_t>(gradient)].storage == storage;
  }

  void stage_tensor(const StageTensor& tensor) {
    Entry& entry = ledger_.entries.emplace_back();
    entry.key.block = "step";
    entry.key.name = tensor.name;
    entry.key.role = tensor.role;
    entry.shape = Dims{tensor.elements};
    entry.dtype = tensor.dtype;
    entry.bytes = Bytes(bytes_of(tensor.elements, tensor.dtype));
    entry.category = tensor.category;
    entry.place = tensor.place;
    entry.copies = tensor.copies;
    const bool counts = tensor.place == ledger::Place::device && alive_at_peak(tensor.alive);
    entry.copies_at_peak = counts ? tensor.copies : 0;
  }
  // The norm's moment is never the peak: the last backward held as much and more.
  [[nodiscard]] bool alive_at_peak(Alive alive) const {
    switch (alive) {
      case Alive::whole_step:
        return true;
      case Alive::count_to_loss:
        return peak_.moment != Moment::optimizer;
      case Alive::norm_to_clip:
        return false;
      case Alive::optimizer:
        return peak_.moment == Moment::optimizer;
    }
    return false;
  }

  [[nodiscard]] std::string peak_text() const {
    if (peak_.block < 0) return "optimizer step";
    const plan::ProgramBlock& at =
        input_.walk.blocks->blocks[static_cast<std::size_t>(peak_.block)];
    std::string text = peak_.moment == Moment::forward ? "forward of " : "backward of ";
    text += to_string(at.sharded.operations.block);
    if (peak_.layer >= 0) text += " " + std::to_string(peak_.layer);
    const std::string micro_batch = ", micro-batch " + std::to_string(peak_.micro_batch);
    if (peak_.moment == Moment::reduce_block) {
      return text + micro_batch + ": reducing its gradients";
    }
    const std::vector<plan::Step>& steps =
        peak_.moment == Moment::forward ? at.forward : at.backward;
    const plan::Step& step = steps[static_cast<std::size_t>(peak_.step)];
    const model::Operation& op =
        at.sharded.operations.operations[static_cast<std::size_t>(step.operation)];
    if (op.layer != model::kOfBlock) text += " " + std::to_string(op.layer);
    text += micro_batch;
    text += step.phase == plan::Phase::recompute ? ": recomputing " : ": ";
    text += to_string(op.kind);
    const auto made = static_cast<std::size_t>(op.outputs[0]);
    return text + " (" + std::string(to_string(at.tensors[made].name)) + ")";
  }

  const StageLedgerInput& input_;
  const StageWalk& walk_;
  const PeakPosition& peak_;
  std::size_t index_ = 0;
  std::int64_t steps_ = 0;
  ledger::Ledger ledger_;
};

}  // namespace

ledger::Ledger stage_ledger(const StageLedgerInput& input, const StageWalk& walk) {
  return Builder(input, walk).run();
}

}  // namespace fourhold::predict
