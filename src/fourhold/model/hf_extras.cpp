#include "fourhold/model/hf_extras.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/checked.h"
#include "fourhold/model/parameters.h"

namespace fourhold::model {
namespace {

std::int64_t layer_elements(const ModelConfig& config, const LayerKind& kind) {
  std::int64_t elements = 0;
  for (const Parameter& parameter : layer_parameters(config, kind)) {
    elements = checked_add(elements, parameter.elements());
  }
  return elements;
}

// One scale per block of a linear's [out, in] weight; each expert is a linear of its own.
std::int64_t block_scales(const Parameter& parameter, std::int64_t block_rows,
                          std::int64_t block_columns) {
  const Shape& shape = parameter.shape;
  const bool experts = shape[0].dim == Dim::experts;
  const int first = experts ? 1 : 0;
  // The input of o_weight is heads x head_dim; everywhere else it is the last dimension alone.
  const int inputs = parameter.name == TensorName::o_weight ? 1 : shape.rank() - 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  for (int i = first; i < shape.rank(); ++i) {
    std::int64_t& side = i < inputs ? rows : columns;
    side = checked_multiply(side, shape[i].size);
  }
  const std::int64_t blocks =
      checked_multiply(ceil_divide(rows, block_rows), ceil_divide(columns, block_columns));
  return checked_multiply(blocks, experts ? shape[0].size : 1);
}

// Linears of the layers are converted, routers and gates are not.
std::int64_t layer_scales(const ModelConfig& config, const LayerKind& kind, std::int64_t block_rows,
                          std::int64_t block_columns) {
  std::int64_t scales = 0;
  for (const Parameter& parameter : layer_parameters(config, kind)) {
    const bool converted = parameter.role == ParameterRole::matrix &&
                           parameter.name != TensorName::router_weight &&
                           parameter.name != TensorName::shared_expert_gate_weight;
    if (converted) {
      scales = checked_add(scales, block_scales(parameter, block_rows, block_columns));
    }
  }
  return scales;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// True when the file exempts only what is never converted anyway, so that the count holds.
bool exempts_only_the_usual(FieldReader& quantization) {
  constexpr std::array<std::string_view, 7> kUsual{
      "gate", "router", "lm_head", "embed_tokens", "norm", "layernorm", "e_score_correction_bias"};
  const auto exempt = quantization.strings("modules_to_not_convert");
  if (!exempt.has_value()) return true;
  return std::all_of(exempt->begin(), exempt->end(), [&](const std::string& module) {
    return std::any_of(kUsual.begin(), kUsual.end(),
                       [&](std::string_view usual) { return ends_with(module, usual); });
  });
}

void add_fp8_scales(Reading& reading, FieldReader& quantization) {
  ModelConfig& config = reading.config;
  const auto block = quantization.integers("weight_block_size", kSizeRange);
  if (!block.has_value() || block->size() != 2) {
    config.extras.push_back({"fp8 scales", 0, "the file states no weight_block_size"});
    return;
  }
  if (!exempts_only_the_usual(quantization)) {
    config.extras.push_back(
        {"fp8 block scales", 0, "modules_to_not_convert leaves linears of the layers out"});
    return;
  }
  std::int64_t scales = 0;
  std::vector<std::int64_t> copies(config.kinds.size(), 0);
  for (const std::int32_t layer : config.layers) ++copies[static_cast<std::size_t>(layer)];
  copies[static_cast<std::size_t>(config.layers.back())] += reading.prediction_layers;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const std::int64_t one = layer_scales(config, config.kinds[i], (*block)[0], (*block)[1]);
    scales = checked_add(scales, checked_multiply(one, copies[i]));
  }
  config.extras.push_back(
      {"fp8 block scales", scales,
       fmt::format("one per {} x {} block of each linear's weight", (*block)[0], (*block)[1])});
}

}  // namespace

void add_mask_buffers(ModelConfig& config) {
  const std::int64_t mask = checked_multiply(config.max_positions, config.max_positions);
  config.extras.push_back(
      {"causal mask buffers", checked_multiply(mask, config.layer_count()),
       "published files keep one positions x positions mask per layer, which is no parameter"});
}

void add_rotary_buffers(ModelConfig& config) {
  const std::int64_t head_dim = config.kinds.front().attention.head_dim;
  config.extras.push_back(
      {"rotary inv_freq buffers", checked_multiply(head_dim / 2, config.layer_count()),
       "old files keep head_dim / 2 frequencies per layer, which are no parameters"});
}

void add_duplicated_head(ModelConfig& config) {
  config.extras.push_back(
      {"duplicated head", checked_multiply(config.vocab, config.hidden),
       "published files store the head a second time although it is tied to the embedding"});
}

void add_prediction_layers(ModelConfig& config, const LayerKind& sparse, std::int64_t depth) {
  if (depth == 0) return;
  const std::int64_t h = config.hidden;
  const std::int64_t projection = checked_multiply(2, checked_multiply(h, h));
  const std::int64_t own =
      checked_add(layer_elements(config, sparse), checked_add(projection, checked_multiply(3, h)));
  config.extras.push_back(
      {"multi-token prediction", checked_multiply(own, depth),
       fmt::format("{} layer{} beside the language model, with projection and norms", depth,
                   depth == 1 ? "" : "s")});
  const std::int64_t table = checked_multiply(config.vocab, h);
  config.extras.push_back({"multi-token prediction's embedding and head",
                           checked_multiply(2 * depth, table),
                           "published files store both again for it; they share the model's own"});
}

void add_quantization(Reading& reading) {
  auto found = reading.fields.object("quantization_config");
  if (!found.has_value() && reading.outer != nullptr) {
    found = reading.outer->object("quantization_config");
  }
  if (!found.has_value()) return;
  FieldReader quantization = *std::move(found);
  const std::string method = quantization.string("quant_method").value_or("an unnamed method");
  note(reading,
       fmt::format("the published weights are quantised ({:.40}); the count is of the model "
                   "itself, whose weights take 2 bytes each in 16-bit training",
                   method));
  if (method == "fp8") add_fp8_scales(reading, quantization);
}

}  // namespace fourhold::model
