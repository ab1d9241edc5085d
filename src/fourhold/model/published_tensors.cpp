#include "fourhold/model/published_tensors.h"

#include <algorithm>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"

namespace fourhold::model {
namespace {

PublishedStyle style_of(const ModelConfig& config) {
  if (const auto style = published_style(config.model_type)) return *style;
  const std::vector<std::string_view> known = published_model_types();
  throw Error(
      config.name,
      fmt::format("the weight files of model type '{}' are not known here", config.model_type),
      fmt::format("files of these types can be read and written: {}", fmt::join(known, ", ")));
}

const PublishedName& name_of(PublishedStyle style, const ParameterId& id,
                             const ModelConfig& config) {
  const std::span<const PublishedName> names = published_names(style);
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&id](const PublishedName& n) { return n.name == id.name; });
  if (found != names.end()) return *found;
  throw Error(config.name,
              fmt::format("files of model type '{}' have no tensor for {}", config.model_type,
                          to_string(id)),
              "the config asks for a part that this type does not have");
}

std::string spelled(std::string_view text, std::int32_t layer) {
  const std::size_t at = text.find('#');
  if (at == std::string_view::npos) return std::string(text);
  return fmt::format("{}{}{}", text.substr(0, at), layer, text.substr(at + 1));
}

// Appends the tensors of one block. Only tensors of this block are joined.
void add_block(const ModelConfig& config, PublishedStyle style, Block block, std::int32_t layer,
               const std::vector<Parameter>& parameters, std::vector<PublishedTensor>& tensors) {
  const auto first = static_cast<std::ptrdiff_t>(tensors.size());
  for (const Parameter& parameter : parameters) {
    const ParameterId id{block, layer, parameter.name};
    const PublishedName& published = name_of(style, id, config);
    std::string name = spelled(published.text, layer);
    const MatrixSize size = matrix_size(parameter);
    auto tensor = std::find_if(tensors.begin() + first, tensors.end(),
                               [&name](const PublishedTensor& t) { return t.name == name; });
    if (tensor == tensors.end()) {
      tensors.push_back({std::move(name), {}, published.transposed, {}});
      tensor = tensors.end() - 1;
      tensor->shape.push_back(0);
      if (parameter.role != ParameterRole::vector) {
        tensor->shape.insert(tensor->shape.begin() + (published.transposed ? 0 : 1), size.columns);
      }
    }
    std::int64_t& rows = published.transposed ? tensor->shape.back() : tensor->shape.front();
    rows = checked_add(rows, size.rows);
    tensor->parts.push_back({id, size});
  }
}

}  // namespace

MatrixSize matrix_size(const Parameter& parameter) {
  const std::int64_t elements = parameter.elements();
  const Shape& shape = parameter.shape;
  if (parameter.role == ParameterRole::vector || parameter.role == ParameterRole::buffer ||
      shape.rank() < 2) {
    return {elements, 1};
  }
  // What gives the hidden size has it as its one row dimension; all others take one dimension in.
  const std::int64_t rows =
      shape[0].dim == Dim::hidden ? shape[0].size : elements / shape[shape.rank() - 1].size;
  return {rows, elements / rows};
}

std::int64_t PublishedTensor::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count = checked_multiply(count, size);
  return count;
}

std::vector<PublishedTensor> published_tensors(const ModelConfig& config) {
  const PublishedStyle style = style_of(config);
  std::vector<PublishedTensor> tensors;
  add_block(config, style, Block::embedding, ParameterId::kNoLayer, embedding_parameters(config),
            tensors);
  std::vector<std::vector<Parameter>> kinds;
  kinds.reserve(config.kinds.size());
  for (const LayerKind& kind : config.kinds) kinds.push_back(layer_parameters(config, kind));
  std::int32_t layer = 0;
  for (const std::int32_t kind : config.layers) {
    add_block(config, style, Block::layer, layer++, kinds[static_cast<std::size_t>(kind)], tensors);
  }
  add_block(config, style, Block::head, ParameterId::kNoLayer, head_parameters(config), tensors);
  return tensors;
}

std::string published_head_name(const ModelConfig& config) {
  const ParameterId head{Block::head, ParameterId::kNoLayer, TensorName::head_weight};
  return std::string(name_of(style_of(config), head, config).text);
}

}  // namespace fourhold::model
