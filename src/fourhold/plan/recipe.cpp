#include "fourhold/plan/recipe.h"

#include <algorithm>

#include "fourhold/base/checked.h"

namespace fourhold::plan {
namespace {

constexpr std::int64_t kAdam8BitBlock = 256;  // values that share one scale
constexpr std::int64_t kFp8MomentBlock = 128;
constexpr std::int64_t kNf4Block = 64;
constexpr std::int64_t kNf4ScaleBlock = 256;  // scales that share one, doubly quantised

// A matrix is [out..., in...], one for each expert where the first dimension counts experts.
struct MatrixSizes {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
};
MatrixSizes matrix_sizes(const model::Parameter& parameter) {
  const model::Shape& shape = parameter.shape;
  const int first_input =
      parameter.name == model::TensorName::o_weight ? 1 : std::max(1, shape.rank() - 1);
  MatrixSizes sizes;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i].dim == model::Dim::experts) continue;
    std::int64_t& side = i < first_input ? sizes.rows : sizes.columns;
    side = checked_multiply(side, shape[i].size);
  }
  return sizes;
}

StateTensor moment_tensor(const Recipe& recipe, MomentFormat format, std::int64_t elements) {
  switch (format) {
    case MomentFormat::automatic:
      break;
    case MomentFormat::fp32:
      return {.dtype = DType::fp32, .elements = elements};
    case MomentFormat::bf16:
      return {.dtype = DType::bf16, .elements = elements};
    case MomentFormat::fp8:
      return {.dtype = DType::fp8,
              .elements = elements,
              .scale_elements = ceil_divide(elements, kFp8MomentBlock)};
  }
  return {.dtype = recipe.moment, .elements = elements};
}

// Row and column vectors of the second moment. A shard is taken as a run of rows: it keeps the
// value of each row it touches and a whole column vector of each matrix it touches.
InlineVector<StateTensor, 2> factored(const Recipe& recipe, const model::Parameter& parameter,
                                      std::int64_t elements) {
  const MatrixSizes sizes = matrix_sizes(parameter);
  const std::int64_t rows = ceil_divide(elements, sizes.columns);
  const std::int64_t matrices = ceil_divide(rows, sizes.rows);
  const std::int64_t columns = std::min(elements, checked_multiply(matrices, sizes.columns));
  return {{.dtype = recipe.moment, .elements = rows},
          {.dtype = recipe.moment, .elements = columns}};
}

}  // namespace

InlineVector<StateTensor, 2> optimizer_state(const Recipe& recipe,
                                             const model::Parameter& parameter,
                                             std::int64_t elements) {
  if (parameter.role == model::ParameterRole::buffer) return {};  // not trained by gradient
  const StateTensor first = moment_tensor(recipe, recipe.first_moment, elements);
  const StateTensor second = moment_tensor(recipe, recipe.second_moment, elements);
  switch (recipe.optimizer) {
    case Optimizer::adamw:
      return {first, second};
    case Optimizer::adamw_8bit: {
      const StateTensor quantised{.dtype = DType::uint8,
                                  .elements = elements,
                                  .scale_elements = ceil_divide(elements, kAdam8BitBlock)};
      return {quantised, quantised};
    }
    case Optimizer::adafactor:
      if (parameter.role == model::ParameterRole::vector) {
        return {{.dtype = recipe.moment, .elements = elements}};
      }
      return factored(recipe, parameter, elements);
    case Optimizer::lion:
    case Optimizer::sgd_momentum:
      return {first};
    case Optimizer::muon:
      if (model::is_layer_matrix(parameter)) return {first};
      return {first, second};
  }
  return {};
}

Recipe recipe_of_use(const Recipe& recipe, const model::BlockParameter& use) {
  const bool adapter =
      use.variant == model::Variant::lora_a || use.variant == model::Variant::lora_b;
  if (recipe.fp8_layer_weights && use.trainable && !adapter &&
      model::is_layer_matrix(use.parameter)) {
    Recipe own = recipe;
    own.weight = DType::fp8;
    own.gathered = DType::fp8;
    own.master_bytes = 2;
    own.short_master = recipe.compute;
    return own;
  }
  if (!adapter || recipe.adapters == model::AdapterStorage::as_weights) return recipe;
  Recipe own = recipe;
  own.weight = DType::fp32;
  own.gathered = DType::fp32;
  own.gradient = DType::fp32;
  own.block_gradient = DType::fp32;
  own.host_gradient = DType::fp32;
  own.moment = DType::fp32;
  own.master_bytes = 0;
  return own;
}

StateTensor frozen_weight(const Recipe& recipe, const model::Parameter& parameter,
                          std::int64_t elements) {
  StateTensor weight{.dtype = recipe.compute, .elements = elements};
  if (recipe.base == BasePrecision::fp32) weight.dtype = DType::fp32;
  if (!is_quantised(recipe.base) || !model::is_layer_matrix(parameter)) return weight;
  if (recipe.base == BasePrecision::int8) {
    weight.dtype = DType::int8;
    weight.scale_elements = ceil_divide(elements, matrix_sizes(parameter).columns);
    return weight;
  }
  weight.dtype = DType::nf4;
  weight.scale_elements = ceil_divide(elements, kNf4Block);
  if (recipe.base == BasePrecision::nf4_dq) {
    weight.scale_dtype = DType::uint8;
    weight.outer_scale_elements = ceil_divide(weight.scale_elements, kNf4ScaleBlock);
  }
  return weight;
}

}  // namespace fourhold::plan
