#include "fourhold/engine/executor/tensor_slots.h"

#include <cassert>
#include <map>
#include <tuple>
#include <utility>

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
      : program_(program), blocks_(blocks), shared_(shares_embedding()) {}

  ProgramSlots run() {
    add_state();
    add_stage_tensors();
    plan::expand(program_, blocks_, [this](const StepInstance& at) {
      WalkedStep step;
      step.at = at;
      if (at.work == Work::compute) compute(step);
      if (at.work == Work::load_ids || at.work == Work::load_targets) load(step);
      if (at.work == Work::count_tokens) {
        date(result_.scalars[kTokenCount]);
        date(result_.scalars[kLossSum]);
      }
      if (at.work == Work::gradient_norm) date(result_.scalars[kGradientNorm]);
      result_.steps.push_back(std::move(step));
    });
    return std::move(result_);
  }

 private:
  using InstanceKey = std::tuple<std::int16_t, std::int32_t, std::int32_t>;
  using PlaceKey = std::pair<std::int16_t, std::int32_t>;

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

  // --- state ---------------------------------------------------------------------------------

  void add_state() {
    for (const plan::Chunk& chunk : program_.chunks) {
      for (const plan::BlockInstance& at : plan::block_instances(chunk, blocks_)) {
        std::vector<ParameterSlots>& own = state_[{at.block, at.layer}];
        const auto& parameters = block(at.block).sharded.parameters;
        for (std::size_t i = 0; i < parameters.size(); ++i) {
          own.push_back(add_parameter(at, static_cast<std::int16_t>(i)));
        }
      }
    }
    link_tied_embedding();
    list_parameters();
  }

  SlotId add_state_tensor(const plan::BlockInstance& at, const plan::LocalParameter& parameter,
                          Role role, Category category, DType dtype) {
    TensorSlot slot;
    slot.key.block = text_of(block(at.block));
    slot.key.name = to_string(parameter.use.parameter.name);
    slot.key.variant = predict::variant_text(parameter.use.variant);
    slot.key.layer = at.layer;
    slot.key.role = role;
    slot.category = category;
    slot.dtype = dtype;
    slot.dims = predict::dims_of(parameter.shape);
    return add(slot);
  }

  ParameterSlots add_parameter(const plan::BlockInstance& at, std::int16_t index) {
    const plan::LocalParameter& parameter =
        block(at.block).sharded.parameters[static_cast<std::size_t>(index)];
    const plan::Recipe& recipe = program_.recipe;
    ParameterSlots slots;
    const auto moments =
        plan::optimizer_state(recipe, parameter.use.parameter, parameter.elements());
    const auto tensor = [&](Role role, Category category, DType dtype) {
      return add_state_tensor(at, parameter, role, category, dtype);
    };
    if (shared_ == Shared::no || !parameter.use.of_embedding) {
      slots.weight = tensor(Role::value, Category::weight, recipe.weight);
      if (recipe.master_bytes > 0) {
        slots.master = tensor(Role::master, Category::master_weight,
                              recipe.master_bytes == 4 ? DType::fp32 : DType::int16);
      }
      if (!moments.empty()) {
        slots.moment1 = tensor(Role::moment1, Category::optimizer_state, moments[0].dtype);
      }
      if (moments.size() > 1) {
        slots.moment2 = tensor(Role::moment2, Category::optimizer_state, moments[1].dtype);
      }
    }
    if (shared_ == Shared::no || !is_table(parameter)) {
      slots.gradient = tensor(Role::gradient, Category::gradient, recipe.gradient);
    }
    return slots;
  }

  // One table, used by both ends: the embedding holds it, and the head, which writes the gradient
  // first, holds that. The optimizer comes to it once, with the head.
  void link_tied_embedding() {
    if (shared_ == Shared::no) return;
    ParameterSlots* table = nullptr;
    ParameterSlots* head = nullptr;
    for (auto& [place, parameters] : state_) {
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        const plan::LocalParameter& parameter = block(place.first).sharded.parameters[i];
        if (parameter.use.of_embedding) head = &parameters[i];
        if (is_table(parameter)) table = &parameters[i];
      }
    }
    assert(table != nullptr && head != nullptr && "both ends are on this stage");
    table->gradient = head->gradient;
    head->weight = table->weight;
    head->master = table->master;
    head->moment1 = table->moment1;
    head->moment2 = table->moment2;
  }

  [[nodiscard]] static bool is_table(const plan::LocalParameter& parameter) {
    return !parameter.use.of_embedding &&
           parameter.use.parameter.name == model::TensorName::token_embedding;
  }

  enum class Shared : std::uint8_t { no, yes };
  // Whether this stage holds both ends of a tied embedding.
  [[nodiscard]] Shared shares_embedding() const {
    bool table = false;
    bool head = false;
    for (const plan::Chunk& chunk : program_.chunks) {
      table = table || chunk.embedding;
      if (!chunk.head) continue;
      for (const plan::LocalParameter& parameter : block(blocks_.head).sharded.parameters) {
        head = head || parameter.use.of_embedding;
      }
    }
    return table && head ? Shared::yes : Shared::no;
  }

  void list_parameters() {
    for (const plan::Chunk& chunk : program_.chunks) {
      for (const plan::BlockInstance& at : plan::block_instances(chunk, blocks_)) {
        const std::vector<ParameterSlots>& own = state_.at({at.block, at.layer});
        for (std::size_t i = 0; i < own.size(); ++i) {
          if (shared_ == Shared::yes && is_table(block(at.block).sharded.parameters[i])) continue;
          result_.parameters.push_back({at.block, at.layer, static_cast<std::int16_t>(i), own[i]});
        }
      }
    }
  }

  SlotId add_stage_tensor(std::string_view name, Category category, DType dtype) {
    TensorSlot slot;
    slot.key.block = "step";
    slot.key.name = name;
    slot.category = category;
    slot.dtype = dtype;
    slot.dims = Dims{1};
    return add(slot);
  }

  void add_stage_tensors() {
    for (std::size_t i = 0; i < plan::kStepScalars.size(); ++i) {
      const plan::StepScalar& scalar = plan::kStepScalars[i];
      result_.scalars[i] = add_stage_tensor(scalar.name, Category::communication, scalar.dtype);
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

  void rename(TensorSlot& slot, const StepInstance& at, const plan::ProgramTensor& tensor) {
    slot.key.block = text_of(block(at.block));
    slot.key.name = to_string(tensor.name);
    slot.key.variant = predict::variant_text(tensor.variant);
    slot.key.layer = at.layer;
    slot.category = tensor.category;
  }

  SlotId add_tensor(const StepInstance& at, std::int16_t owner) {
    const plan::ProgramTensor& tensor = block(at.block).tensors[static_cast<std::size_t>(owner)];
    TensorSlot slot;
    rename(slot, at, tensor);
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
    step.parameters = state_.at({at.block, at.layer});
    for (const std::int16_t parameter : at.step->writes_gradients) {
      date(step.parameters[static_cast<std::size_t>(parameter)].gradient);
    }
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
    rename(result_.slots[static_cast<std::size_t>(slot)], at,
           block(at.block).tensors[static_cast<std::size_t>(storage)]);
    return slot;
  }

  const plan::Program& program_;
  const plan::ProgramBlocks& blocks_;
  Shared shared_;
  ProgramSlots result_;
  std::map<PlaceKey, std::vector<ParameterSlots>> state_;
  std::map<InstanceKey, Instance> instances_;
  std::map<std::pair<std::int32_t, std::int32_t>, SlotId> border_;  // chunk, micro-batch
};

}  // namespace

ProgramSlots walk_program(const plan::Program& program, const plan::ProgramBlocks& blocks) {
  return Walk(program, blocks).run();
}

}  // namespace fourhold::engine
