#include "fourhold/predict/state.h"

#include "fourhold/plan/recipe.h"
#include "fourhold/plan/tied_embedding.h"

namespace fourhold::predict {
namespace {

using ledger::Category;
using ledger::Place;
using ledger::Role;
using plan::Offload;

struct Slices {
  std::int64_t group = 1;
  int zero = 0;
  // Elements of the largest slice from ZeRO stage `from` on.
  [[nodiscard]] std::int64_t of(std::int64_t elements, int from) const {
    return zero >= from ? ceil_divide(elements, group) : elements;
  }
};

Slices slices_of(const plan::LocalParameter& parameter, const plan::Plan& plan) {
  const std::int64_t dense = plan.dp * plan.cp;
  const std::int64_t ranks = parameter.expert ? ceil_divide(dense, plan.ep) : dense;
  return {ranks / plan.shard_groups, plan.zero};
}

bool offloads(const plan::Plan& plan, Offload from) {
  return static_cast<int>(plan.offload) >= static_cast<int>(from);
}

void add_frozen_weight(ParameterState& state, const plan::StateTensor& weight, Place place) {
  state.resident.push_back({Role::value, Category::weight, place, weight.dtype, weight.elements});
  if (weight.scale_elements > 0) {
    state.resident.push_back(
        {Role::scale, Category::weight, place, weight.scale_dtype, weight.scale_elements});
  }
  if (weight.outer_scale_elements > 0) {
    state.resident.push_back(
        {Role::outer_scale, Category::weight, place, DType::fp32, weight.outer_scale_elements});
  }
}

void add_master(ParameterState& state, const plan::Recipe& recipe, std::int64_t elements,
                Place place) {
  if (recipe.master_bytes == 0) return;
  const DType dtype = recipe.master_bytes == 4 ? DType::fp32 : recipe.short_master;
  state.resident.push_back({Role::master, Category::master_weight, place, dtype, elements});
}

void add_moments(ParameterState& state, const plan::Recipe& recipe,
                 const plan::LocalParameter& parameter, std::int64_t elements, Place place) {
  model::Parameter local = parameter.use.parameter;
  local.shape = parameter.shape;
  Role role = Role::moment1;
  for (const plan::StateTensor& moment : plan::optimizer_state(recipe, local, elements)) {
    state.resident.push_back(
        {role, Category::optimizer_state, place, moment.dtype, moment.elements});
    if (moment.scale_elements > 0) {
      state.resident.push_back({Role::scale, Category::optimizer_state, place, moment.scale_dtype,
                                moment.scale_elements});
    }
    role = Role::moment2;
  }
}

ParameterState parameter_state(const plan::LocalParameter& parameter,
                               const plan::Program& program) {
  const plan::Plan& plan = program.plan;
  const plan::Recipe recipe = plan::recipe_of_use(program.recipe, parameter.use);
  const Slices slices = slices_of(parameter, plan);
  const std::int64_t elements = parameter.elements();
  ParameterState state;

  const Place weight_place = offloads(plan, Offload::all) ? Place::host : Place::device;
  const std::int64_t stored = slices.of(elements, 3);
  if (parameter.use.trainable) {
    state.resident.push_back({Role::value, Category::weight, weight_place, recipe.weight, stored});
  } else {
    add_frozen_weight(state, plan::frozen_weight(recipe, parameter.use.parameter, stored),
                      weight_place);
  }
  if (program.motion.gathers_blocks) {
    // A quantised weight travels as it is stored and is widened inside the GEMM.
    const DType form = parameter.use.trainable
                           ? recipe.gathered
                           : plan::frozen_weight(recipe, parameter.use.parameter, elements).dtype;
    state.gathered_bytes = bytes_of(elements, form);
    state.gathered_dtype = form;
  }
  if (!parameter.use.trainable) return state;

  const Place gradient_place =
      offloads(plan, Offload::optimizer_gradients) ? Place::host : Place::device;
  const DType gradient_dtype =
      gradient_place == Place::host ? recipe.host_gradient : recipe.gradient;
  state.gradient = {Role::gradient, Category::gradient, gradient_place, gradient_dtype,
                    slices.of(elements, 2)};
  if (program.motion.reduces_each_block) {
    state.block_gradient_bytes = bytes_of(elements, recipe.block_gradient);
    state.block_gradient_dtype = recipe.block_gradient;
  }
  const Place optimizer_place = offloads(plan, Offload::optimizer) ? Place::host : Place::device;
  state.owned_elements = slices.of(elements, 1);
  add_master(state, recipe, state.owned_elements, optimizer_place);
  add_moments(state, recipe, parameter, state.owned_elements, optimizer_place);
  return state;
}

// One table, gathered and reduced by both blocks: the embedding holds it, the head makes its
// gradient.
void share_embedding(const plan::LocalParameter& parameter, ParameterState& state) {
  if (parameter.use.of_embedding) {
    state.elsewhere = true;
    state.resident.clear();
  } else if (parameter.use.parameter.name == model::TensorName::token_embedding) {
    state.gradient.elements = 0;
  }
}

void add(BlockState& total, const ParameterState& state) {
  for (const ResidentTensor& tensor : state.resident) {
    (tensor.place == Place::device ? total.resident_bytes : total.host_bytes) += tensor.bytes();
  }
  (state.gradient.place == Place::device ? total.gradient_bytes : total.host_bytes) +=
      state.gradient.bytes();
  total.block_gradient_bytes += state.block_gradient_bytes;
  total.gathered_bytes += state.gathered_bytes;
}

}  // namespace

TiedCopy tied_copy(const plan::Plan& plan, const plan::ProgramBlocks& blocks) {
  return plan::holds_both_ends(plan, blocks) ? TiedCopy::shares_embedding : TiedCopy::own_copy;
}

BlockState block_state(const plan::ProgramBlock& block, const plan::Program& program,
                       TiedCopy tied) {
  BlockState total;
  total.parameters.reserve(block.sharded.parameters.size());
  for (const plan::LocalParameter& parameter : block.sharded.parameters) {
    ParameterState state = parameter_state(parameter, program);
    if (tied == TiedCopy::shares_embedding) share_embedding(parameter, state);
    add(total, state);
    total.parameters.push_back(state);
  }
  return total;
}

}  // namespace fourhold::predict
