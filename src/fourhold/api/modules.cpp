#include "fourhold/api/modules.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "fourhold/model/parameters.h"

namespace fourhold::api {
namespace {

using model::Dim;

// [heads, head_dim, hidden] is stored as [heads x head_dim, hidden].
std::vector<std::int64_t> stored_shape(const model::Shape& shape) {
  std::vector<std::int64_t> sizes;
  for (int i = 0; i < shape.rank(); ++i) {
    const bool joins = i > 0 && shape[i].dim == Dim::head_dim &&
                       (shape[i - 1].dim == Dim::heads || shape[i - 1].dim == Dim::kv_heads);
    if (joins) {
      sizes.back() = checked_multiply(sizes.back(), shape[i].size);
    } else {
      sizes.push_back(shape[i].size);
    }
  }
  return sizes;
}

// Modules by name and shape, in the order in which they first appear.
class Collector {
 public:
  void add(const std::string& name, const std::vector<std::int64_t>& shape, std::int64_t count,
           std::int64_t copies) {
    const auto [at, is_new] = index_.try_emplace({name, shape}, modules_.size());
    if (is_new) modules_.push_back({name, shape, count, 0});
    modules_[at->second].copies += copies;
  }
  void add(model::Block block, const std::vector<model::Parameter>& parameters,
           std::int64_t copies) {
    for (const model::Parameter& parameter : parameters) {
      add(std::string(to_string(block)) + "." + std::string(to_string(parameter.name)),
          stored_shape(parameter.shape), parameter.elements(), copies);
    }
  }
  [[nodiscard]] std::vector<Module> take() { return std::move(modules_); }

 private:
  std::vector<Module> modules_;
  std::map<std::pair<std::string, std::vector<std::int64_t>>, std::size_t> index_;
};

// Runs of digits between dots become one '*'.
std::string without_numbers(std::string_view name) {
  std::string out;
  while (true) {
    const std::size_t dot = name.find('.');
    const std::string_view part = name.substr(0, dot);
    const bool number =
        !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    out += number ? "*" : std::string(part);
    if (dot == std::string_view::npos) return out;
    out += '.';
    name.remove_prefix(dot + 1);
  }
}

}  // namespace

std::vector<Module> modules_of(const model::ModelConfig& config) {
  Collector collector;
  collector.add(model::Block::embedding, model::embedding_parameters(config), 1);
  for (std::size_t kind = 0; kind < config.kinds.size(); ++kind) {
    const std::int64_t copies =
        std::count(config.layers.begin(), config.layers.end(), static_cast<std::int32_t>(kind));
    collector.add(model::Block::layer, model::layer_parameters(config, config.kinds[kind]), copies);
  }
  collector.add(model::Block::head, model::head_parameters(config), 1);
  return collector.take();
}

std::vector<Module> modules_of(const std::vector<model::StoredTensor>& tensors) {
  Collector collector;
  for (const model::StoredTensor& tensor : tensors) {
    collector.add(without_numbers(tensor.name), tensor.shape, tensor.elements, 1);
  }
  return collector.take();
}

}  // namespace fourhold::api
