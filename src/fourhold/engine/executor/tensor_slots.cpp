#include "fourhold/engine/executor/tensor_slots.h"

#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "fourhold/engine/executor/state_slots.h"
#include "fourhold/plan/communication_buffers.h"
#include "fourhold/predict/entry_names.h"

namespace fourhold::engine {
namespace {

using ledger::Category;
using ledger::Role;
using plan::StepInstance;
using plan::Work;

// Slots of one block at one layer and micro-batch, by owning tensor. What is not kept for backward
// is made anew there, and has a slot of its own.
struct Instance {
  std::vector<SlotId> forward;
  std::vector<SlotId> backward;
};

class Walk {
 public:
  Walk(const plan::Program& program, const plan::ProgramBlocks& blocks)
      : program_(program), blocks_(blocks), state_(program, blocks, result_) {}

  ProgramSlots run() {
    add_stage_tensors();
    plan::expand(program_, blocks_, [this](const StepInstance& at) {
      WalkedStep step;
      step.at = at;
      visit(step);
      result_.steps.push_back(std::move(step));
      if (at.work == Work::reduce_gradients) state_.finish_reduce(at);
      if (at.work == Work::release_weights) state_.release(at);
    });
    return std::move(result_);
  }

 private:
  using InstanceKey = std::tuple<std::int16_t, std::int32_t, std::int32_t>;

  void visit(WalkedStep& step) {
    const StepInstance& at = step.at;
    switch (at.work) {
      case Work::compute:
        return compute(step);
      case Work::load_ids:
      case Work::load_targets:
        return load(step);
      case Work::receive_activation:
        return receive(step, block(at.block).input);
      case Work::receive_gradient:
        return receive(step, block(at.block).output_gradient);
      case Work::send_activation:
      case Work::send_gradient:
        step.inputs.push_back(border_.at({at.chunk, at.micro_batch}));
        return;
      case Work::gather_weights:
        state_.gather(at);
        break;
      case Work::reduce_gradients:
        state_.reduce(at);
        break;
      case Work::count_tokens:
        date(result_.scalars[kTokenCount]);
        date(result_.scalars[kLossSum]);
        return;
      case Work::gradient_norm:
        date(result_.scalars[kGradientNorm]);
        return;
      default:
        break;
    }
    if (at.block >= 0) step.parameters = state_.at(at);
  }

  [[nodiscard]] const plan::ProgramBlock& block(std::int16_t index) const {
    return blocks_.blocks[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] std::int64_t now() const { return static_cast<std::int64_t>(result_.steps.size()); }

  // The slot is in use from the step at work on, unless it was before.
  void date(SlotId slot) {
    std::int64_t& first = result_.slots[static_cast<std::size_t>(slot)].first_step;
    if (first < 0) first = now();
  }

  SlotId add(const TensorSlot& slot) {
    result_.slots.push_back(slot);
    return static_cast<SlotId>(result_.slots.size() - 1);
  }
  [[nodiscard]] static std::string_view text_of(const plan::ProgramBlock& block) {
    return to_string(block.sharded.operations.block);
  }

  // --- of the whole step ----------------------------------------------------------------------

  SlotId add_stage_tensor(std::string_view name, DType dtype, std::int64_t elements) {
    TensorSlot slot;
    slot.key.block = "step";
    slot.key.name = name;
    slot.key.role = Role::buffer;
    slot.category = Category::communication;
    slot.dtype = dtype;
    slot.dims = Dims{elements};
    return add(slot);
  }

  [[nodiscard]] SlotId& slot_of(std::string_view buffer) {
    if (buffer == plan::kActivationSend) return result_.buffers.activation_send;
    if (buffer == plan::kGradientSend) return result_.buffers.gradient_send;
    return result_.buffers.exchange;
  }

  void add_stage_tensors() {
    for (const plan::CommunicationBuffer& buffer : plan::communication_buffers(program_, blocks_)) {
      slot_of(buffer.name) = add_stage_tensor(buffer.name, buffer.dtype, buffer.elements);
    }
    for (std::size_t i = 0; i < plan::kStepScalars.size(); ++i) {
      const plan::StepScalar& scalar = plan::kStepScalars[i];
      result_.scalars[i] = add_stage_tensor(scalar.name, scalar.dtype, 1);
      result_.slots.back().key.role = Role::value;
    }
  }

  // --- activations ---------------------------------------------------------------------------

  Instance& instance(const StepInstance& at) {
    Instance& made = instances_[{at.block, at.layer, at.micro_batch}];
    if (made.forward.empty()) {
      made.forward.assign(block(at.block).tensors.size(), kNoSlot);
      made.backward.assign(block(at.block).tensors.size(), kNoSlot);
    }
    return made;
  }

  void name(TensorSlot& slot, const StepInstance& at, const plan::ProgramTensor& tensor) {
    slot.key.block = text_of(block(at.block));
    slot.key.name = to_string(tensor.name);
    slot.key.variant = predict::variant_text(tensor.variant);
    slot.key.layer = at.layer;
    slot.category = tensor.category;
  }

  SlotId add_tensor(const StepInstance& at, std::int16_t owner) {
    const plan::ProgramTensor& tensor = block(at.block).tensors[static_cast<std::size_t>(owner)];
    TensorSlot slot;
    name(slot, at, tensor);
    slot.key.role = tensor.role;
    slot.key.micro_batch = at.micro_batch;
    slot.dtype = tensor.dtype;
    slot.dims = predict::dims_of(tensor.shape);
    slot.first_step = now();
    return add(slot);
  }

  [[nodiscard]] std::int16_t owner(const StepInstance& at, std::int16_t tensor) const {
    return tensor < 0 ? tensor : block(at.block).tensors[static_cast<std::size_t>(tensor)].storage;
  }

  void load(WalkedStep& step) {
    const plan::ProgramBlock& own = block(step.at.block);
    for (std::size_t i = 0; i < own.tensors.size(); ++i) {
      if (own.tensors[i].category != Category::input) continue;
      const SlotId slot = add_tensor(step.at, static_cast<std::int16_t>(i));
      instance(step.at).forward[i] = slot;
      step.inputs.push_back(slot);
    }
  }

  // The first block of a chunk gets its input, the last the gradient of its output.
  void receive(WalkedStep& step, std::int16_t tensor) {
    const SlotId slot = add_tensor(step.at, owner(step.at, tensor));
    border_[{step.at.chunk, step.at.micro_batch}] = slot;
    step.inputs.push_back(slot);
  }

  void compute(WalkedStep& step) {
    const StepInstance& at = step.at;
    const plan::ProgramBlock& own = block(at.block);
    const bool forward = at.step->phase == plan::Phase::forward;
    for (const plan::Access& access : at.step->accesses) {
      const std::int16_t storage = owner(at, access.tensor);
      const bool kept = own.tensors[static_cast<std::size_t>(storage)].kept;
      Instance& here = instance(at);
      SlotId& slot =
          (forward || kept ? here.forward : here.backward)[static_cast<std::size_t>(storage)];
      if (slot == kNoSlot) {
        const bool enters = storage == owner(at, forward ? own.input : own.output_gradient);
        slot = enters ? enter(at, storage) : add_tensor(at, storage);
      }
      step.accesses.push_back(slot);
    }
    for (const std::int16_t parameter : at.step->writes_gradients) {
      state_.write_gradient(at, static_cast<std::size_t>(parameter));
    }
    step.parameters = state_.at(at);
    const std::vector<plan::Step>& steps = forward ? own.forward : own.backward;
    if (at.step != &steps.back()) return;
    const std::int16_t leaving = owner(at, forward ? own.output : own.input_gradient);
    if (leaving < 0) return;
    const Instance& here = instance(at);
    const bool kept = own.tensors[static_cast<std::size_t>(leaving)].kept;
    const SlotId slot =
        (forward || kept ? here.forward : here.backward)[static_cast<std::size_t>(leaving)];
    if (slot != kNoSlot) border_[{at.chunk, at.micro_batch}] = slot;
  }

  // What the block before left goes by the name it has here.
  SlotId enter(const StepInstance& at, std::int16_t storage) {
    const SlotId slot = border_.at({at.chunk, at.micro_batch});
    name(result_.slots[static_cast<std::size_t>(slot)], at,
         block(at.block).tensors[static_cast<std::size_t>(storage)]);
    return slot;
  }

  const plan::Program& program_;
  const plan::ProgramBlocks& blocks_;
  ProgramSlots result_;
  StateSlots state_;
  std::map<InstanceKey, Instance> instances_;
  std::map<std::pair<std::int32_t, std::int32_t>, SlotId> border_;  // chunk, micro-batch
};

}  // namespace

ProgramSlots walk_program(const plan::Program& program, const plan::ProgramBlocks& blocks) {
  return Walk(program, blocks).run();
}

}  // namespace fourhold::engine
