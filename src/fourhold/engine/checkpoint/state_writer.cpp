#include <algorithm>
#include <cassert>
#include <optional>

#include <fmt/format.h>

#include "fourhold/base/json.h"
#include "fourhold/engine/checkpoint/file_writer.h"
#include "fourhold/engine/checkpoint/safetensors_writer.h"
#include "fourhold/engine/checkpoint/state_files.h"
#include "fourhold/engine/checkpoint/stored_dtype.h"

namespace fourhold::engine {
namespace {

std::string description(const StateTensor& tensor) {
  json::Array shape;
  for (const std::int64_t size : tensor.shape) shape.emplace_back(size);
  return json::write(json::Object{{"parameter", to_string(tensor.parameter)},
                                  {"kind", tensor.kind},
                                  {"shape", std::move(shape)},
                                  {"begin", tensor.slice.begin},
                                  {"length", tensor.slice.length},
                                  {"stride", tensor.slice.stride},
                                  {"count", tensor.slice.count}},
                     json::Layout::one_line);
}

}  // namespace

FileSum write_state(const std::string& folder, RankOf who, std::span<const StateTensor> tensors) {
  assert(who.rank >= 0 && who.rank < who.ranks);
  // Wider types first, so that all are aligned.
  std::vector<const StateTensor*> order;
  order.reserve(tensors.size());
  for (const StateTensor& tensor : tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(), [](const StateTensor* a, const StateTensor* b) {
    return info(a->data.dtype).bits > info(b->data.dtype).bits;
  });
  std::vector<TensorSource> sources;
  Metadata metadata;
  for (const StateTensor* tensor : order) {
    const std::optional<model::StoredType> type = stored_type(tensor->data.dtype);
    assert(type.has_value() && "state is kept in types that files can hold");
    assert(plan::is_valid(tensor->slice, tensor->shape.elements()));
    assert(tensor->data.elements() == tensor->slice.elements());
    const std::string name =
        fmt::format("{}.{}@{}", to_string(tensor->parameter), tensor->kind, tensor->slice.begin);
    metadata.emplace_back(name, description(*tensor));
    sources.push_back({{name, *type, {tensor->slice.elements()}}, [tensor](FileWriter& file) {
                         file.append(std::span<const std::byte>(
                             tensor->data.data, static_cast<std::size_t>(tensor->data.bytes())));
                       }});
  }
  return write_safetensors(folder,
                           fmt::format("state-{:05}-of-{:05}.safetensors", who.rank + 1, who.ranks),
                           sources, metadata);
}

}  // namespace fourhold::engine
