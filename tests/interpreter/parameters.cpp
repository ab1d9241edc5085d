#include "tests/interpreter/parameters.h"

#include <algorithm>
#include <cmath>

#include "fourhold/plan/mesh.h"
#include "tests/interpreter/counter_random.h"

namespace fourhold::interpreter {
namespace {

using model::Dim;
using model::ParameterRole;
using model::TensorName;

constexpr std::int64_t kWeights = 3;  // key of the generator

bool is_norm_weight(TensorName name) {
  const std::string_view text = model::to_string(name);
  return text.find("norm") != std::string_view::npos && text.find("bias") == std::string_view::npos;
}

double scale_of(const model::Parameter& parameter) {
  switch (parameter.role) {
    case ParameterRole::matrix: {
      std::int64_t inputs = parameter.shape[parameter.shape.rank() - 1].size;
      if (parameter.name == TensorName::o_weight) {
        inputs = parameter.elements() / parameter.shape[0].size;
      }
      return 1.5 / std::sqrt(static_cast<double>(inputs));
    }
    case ParameterRole::embedding:
      return 0.8;
    case ParameterRole::vector:
    case ParameterRole::buffer:
      return 0.3;
  }
  return 1;
}

void add_block(const model::BlockOperations& block, std::int64_t layer, ParameterValues& values) {
  for (const model::BlockParameter& use : block.parameters) {
    const ParameterKey key = key_of(block.block, layer, use);
    const double centre = is_norm_weight(key.name) ? 1.0 : 0.0;
    const double scale = scale_of(use.parameter);
    std::vector<double> flat(static_cast<std::size_t>(use.parameter.elements()));
    for (std::size_t i = 0; i < flat.size(); ++i) {
      const double unit = random_unit({kWeights, static_cast<std::int64_t>(key.name),
                                       static_cast<std::int64_t>(key.variant), key.layer,
                                       static_cast<std::int64_t>(i)});
      flat[i] = centre + scale * (2 * unit - 1);
    }
    values.emplace(key, std::move(flat));
  }
}

}  // namespace

std::string to_string(const ParameterKey& key) {
  std::string text(model::to_string(key.block));
  if (key.layer >= 0) text += "." + std::to_string(key.layer);
  text += "." + std::string(model::to_string(key.name));
  if (key.variant == model::Variant::lora_a) text += ".lora_a";
  if (key.variant == model::Variant::lora_b) text += ".lora_b";
  return text;
}

ParameterKey key_of(model::Block block, std::int64_t layer, const model::BlockParameter& use) {
  if (use.of_embedding) return {model::Block::embedding, -1, use.parameter.name, use.variant};
  return {block, layer, use.parameter.name, use.variant};
}

ParameterValues make_parameters(const model::ModelConfig& config, const model::Switches& switches) {
  const model::BatchSizes sizes{.micro_batch = 1, .seq = 4};
  ParameterValues values;
  add_block(model::embedding_operations(config, sizes, switches), -1, values);
  for (std::size_t layer = 0; layer < config.layers.size(); ++layer) {
    add_block(model::layer_operations(config, config.layers[layer], sizes, switches),
              static_cast<std::int64_t>(layer), values);
  }
  add_block(model::head_operations(config, sizes, switches), -1, values);
  return values;
}

std::int64_t place_in(const std::vector<std::int64_t>& group, std::int64_t rank) {
  return std::find(group.begin(), group.end(), rank) - group.begin();
}

std::int64_t first_of(const plan::Plan& plan, std::int64_t rank, const model::Extent& whole,
                      std::int64_t local_size) {
  const std::int64_t tp = plan::coordinates(plan, rank).tp;
  switch (whole.dim) {
    case Dim::heads:
    case Dim::ffn:
    case Dim::expert_ffn:
    case Dim::vocab:
      return tp * local_size;
    case Dim::kv_heads:
      // With more ranks than kv heads, neighbours hold the same one.
      return whole.size >= plan.tp ? tp * local_size : tp / (plan.tp / whole.size);
    case Dim::experts: {
      const auto group = plan::group_of(plan, plan::Axis::ep, rank, 1);
      return place_in(group, rank) * local_size;
    }
    default:
      return 0;
  }
}

std::vector<std::int64_t> local_elements(const plan::Plan& plan, std::int64_t rank,
                                         const plan::LocalParameter& parameter) {
  const model::Shape& whole = parameter.use.parameter.shape;
  std::vector<std::int64_t> elements{0};
  for (int i = 0; i < whole.rank(); ++i) {
    const std::int64_t local_size = parameter.shape[i].size;
    const std::int64_t first = first_of(plan, rank, whole[i], local_size);
    std::vector<std::int64_t> finer;
    finer.reserve(elements.size() * static_cast<std::size_t>(local_size));
    for (const std::int64_t element : elements) {
      for (std::int64_t j = first; j < first + local_size; ++j) {
        const bool padding = element == kPadding || j >= whole[i].size;
        finer.push_back(padding ? kPadding : element * whole[i].size + j);
      }
    }
    elements = std::move(finer);
  }
  return elements;
}

}  // namespace fourhold::interpreter
