#include "fourhold/engine/executor/state_slots.h"

#include <algorithm>
#include <cassert>

#include "fourhold/plan/parameter_gradients.h"
#include "fourhold/plan/recipe.h"
#include "fourhold/plan/tied_embedding.h"
#include "fourhold/predict/entry_names.h"

namespace fourhold::engine {
namespace {

using ledger::Category;
using ledger::Role;
using plan::StepInstance;

TensorSlot like(Role role, Category category, DType dtype) {
  TensorSlot slot;
  slot.key.role = role;
  slot.category = category;
  slot.dtype = dtype;
  return slot;
}

// Elements a rank holds of what is split from ZeRO stage `from` on: the longest slice.
std::int64_t slice_elements(const plan::Plan& plan, std::int64_t elements, int from) {
  return plan.zero >= from ? ceil_divide(elements, plan.dp * plan.cp) : elements;
}

}  // namespace

StateSlots::StateSlots(const plan::Program& program, const plan::ProgramBlocks& blocks,
                       ProgramSlots& result)
    : program_(program),
      blocks_(blocks),
      result_(result),
      shared_(plan::holds_both_ends(program.plan, blocks)) {
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

void StateSlots::date(SlotId slot) {
  std::int64_t& first = result_.slots[static_cast<std::size_t>(slot)].first_step;
  if (first < 0) first = now();
}

SlotId StateSlots::add(std::int16_t block_index, std::int32_t layer,
                       const plan::LocalParameter& parameter, Role role) {
  TensorSlot slot;
  slot.key.block = to_string(block(block_index).sharded.operations.block);
  slot.key.name = to_string(parameter.use.parameter.name);
  slot.key.variant = predict::variant_text(parameter.use.variant);
  slot.key.layer = layer;
  slot.key.role = role;
  slot.dims = predict::dims_of(parameter.shape);
  result_.slots.push_back(slot);
  return static_cast<SlotId>(result_.slots.size() - 1);
}

// A slice of a split tensor is flat.
SlotId StateSlots::add_state_tensor(const plan::BlockInstance& at,
                                    const plan::LocalParameter& parameter, const TensorSlot& as,
                                    std::int64_t elements) {
  const SlotId id = add(at.block, at.layer, parameter, as.key.role);
  TensorSlot& slot = result_.slots[static_cast<std::size_t>(id)];
  slot.category = as.category;
  slot.dtype = as.dtype;
  if (elements != parameter.elements()) slot.dims = Dims{elements};
  return id;
}

ParameterSlots StateSlots::add_parameter(const plan::BlockInstance& at, std::int16_t index) {
  const plan::LocalParameter& parameter =
      block(at.block).sharded.parameters[static_cast<std::size_t>(index)];
  const plan::Recipe& recipe = program_.recipe;
  const plan::Plan& plan = program_.plan;
  ParameterSlots slots;
  const auto tensor = [&](Role role, Category category, DType dtype, int split_from) {
    return add_state_tensor(at, parameter, like(role, category, dtype),
                            slice_elements(plan, parameter.elements(), split_from));
  };
  if (!shared_ || !parameter.use.of_embedding) {
    const auto moments = plan::optimizer_state(recipe, parameter.use.parameter,
                                               slice_elements(plan, parameter.elements(), 1));
    slots.weight = tensor(Role::value, Category::weight, recipe.weight, 3);
    if (recipe.master_bytes > 0) {
      slots.master = tensor(Role::master, Category::master_weight,
                            recipe.master_bytes == 4 ? DType::fp32 : DType::int16, 1);
    }
    if (!moments.empty()) {
      slots.moment1 = tensor(Role::moment1, Category::optimizer_state, moments[0].dtype, 1);
    }
    if (moments.size() > 1) {
      slots.moment2 = tensor(Role::moment2, Category::optimizer_state, moments[1].dtype, 1);
    }
  }
  if (!shared_ || !plan::is_embedding_table(parameter)) {
    slots.gradient = tensor(Role::gradient, Category::gradient, recipe.gradient, 2);
  }
  return slots;
}

// One table, used by both ends: the embedding holds it, and the head, which writes the gradient
// first, holds that. The optimizer comes to it once, with the head.
void StateSlots::link_tied_embedding() {
  if (!shared_) return;
  ParameterSlots* table = nullptr;
  ParameterSlots* head = nullptr;
  for (auto& [place, parameters] : state_) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const plan::LocalParameter& parameter = block(place.first).sharded.parameters[i];
      if (parameter.use.of_embedding) head = &parameters[i];
      if (plan::is_embedding_table(parameter)) table = &parameters[i];
    }
  }
  assert(table != nullptr && head != nullptr && "both ends are on this stage");
  table->gradient = head->gradient;
  head->weight = table->weight;
  head->master = table->master;
  head->moment1 = table->moment1;
  head->moment2 = table->moment2;
}

void StateSlots::list_parameters() {
  for (const plan::Chunk& chunk : program_.chunks) {
    for (const plan::BlockInstance& at : plan::block_instances(chunk, blocks_)) {
      const std::vector<ParameterSlots>& own = state_.at({at.block, at.layer});
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (shared_ && plan::is_embedding_table(block(at.block).sharded.parameters[i])) continue;
        result_.parameters.push_back({at.block, at.layer, static_cast<std::int16_t>(i), own[i]});
      }
    }
  }
}

// --- what moves ------------------------------------------------------------------------------

void StateSlots::gather(const StepInstance& at) {
  std::vector<ParameterSlots>& own = mine(at);
  for (std::size_t p = 0; p < own.size(); ++p) {
    own[p].gathered = add(at.block, at.layer, local(at, p), Role::gathered);
    TensorSlot& slot = result_.slots[static_cast<std::size_t>(own[p].gathered)];
    slot.key.micro_batch = at.micro_batch;
    slot.category = Category::gathered_weight;
    slot.dtype = program_.recipe.gathered;
    slot.first_step = now();
  }
}

void StateSlots::release(const StepInstance& at) {
  for (ParameterSlots& own : mine(at)) own.gathered = kNoSlot;
}

void StateSlots::write_gradient(const StepInstance& at, std::size_t parameter) {
  ParameterSlots& own = mine(at)[parameter];
  if (!program_.motion.reduces_each_block) return date(own.gradient);
  if (own.whole_gradient == kNoSlot) {
    own.whole_gradient = add(at.block, at.layer, local(at, parameter), Role::whole_gradient);
    TensorSlot& slot = result_.slots[static_cast<std::size_t>(own.whole_gradient)];
    slot.key.micro_batch = at.micro_batch;
    slot.category = Category::gradient;
    slot.dtype = program_.recipe.block_gradient;
    slot.first_step = now();
  }
  if (at.step->phase == plan::Phase::forward) {
    ++forwards_open_[{{at.block, at.layer}, parameter}];
  }
}

void StateSlots::reduce(const StepInstance& at) {
  for (const ParameterSlots& own : mine(at)) {
    if (own.whole_gradient != kNoSlot) date(own.gradient);
  }
}

void StateSlots::finish_reduce(const StepInstance& at) {
  std::vector<ParameterSlots>& own = mine(at);
  for (std::size_t p = 0; p < own.size(); ++p) {
    const bool last = !plan::written_in_forward(block(at.block), p) ||
                      --forwards_open_[{{at.block, at.layer}, p}] == 0;
    if (last) own[p].whole_gradient = kNoSlot;
  }
}

}  // namespace fourhold::engine
