#include "fourhold/engine/checkpoint/published_layout.h"

#include <span>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/engine/checkpoint/safetensors_writer.h"
#include "fourhold/engine/checkpoint/stored_dtype.h"
#include "fourhold/model/write_hf_config.h"

namespace fourhold::engine {
namespace {

using model::PublishedTensor;

void check_format(const WeightsFormat& format) {
  if (format.dtype != DType::fp32 && format.dtype != DType::bf16) {
    throw Error("dtype", fmt::format("weights are not written as {}", to_string(format.dtype)),
                "write fp32 or bf16");
  }
  if (format.max_shard_bytes <= 0) {
    throw Error("max_shard_bytes", fmt::format("is {}", format.max_shard_bytes),
                "the least is 1, which gives every tensor a file of its own");
  }
}

// Runs of tensors that share a file, in order.
std::vector<PublishedFile> cut_into_shards(const std::vector<TensorShape>& tensors,
                                           std::int64_t max_bytes) {
  std::vector<PublishedFile> shards(1);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::int64_t more = bytes_of(tensors[i]);
    if (i > shards.back().first && bytes + more > max_bytes) {
      shards.emplace_back().first = i;
      bytes = 0;
    }
    shards.back().end = i + 1;
    bytes += more;
  }
  return shards;
}

std::string index_text(const PublishedLayout& layout) {
  std::int64_t total = 0;
  json::Object map;
  for (const PublishedFile& file : layout.files) {
    total += PublishedLayout::data_bytes(file);
    for (std::size_t i = file.first; i < file.end; ++i) {
      map.emplace_back(layout.tensors[i].name, file.name);
    }
  }
  return json::write(json::Object{{"metadata", json::Object{{"total_size", total}}},
                                  {"weight_map", std::move(map)}}) +
         "\n";
}

}  // namespace

PublishedLayout lay_out(const model::ModelConfig& config, const WeightsFormat& format) {
  check_format(format);
  PublishedLayout layout;
  layout.dtype = format.dtype;
  layout.config = model::write_hf_config(config, format.dtype, format.carried);
  layout.tensors = model::published_tensors(config);
  std::vector<TensorShape> shapes;
  for (const PublishedTensor& tensor : layout.tensors) {
    shapes.push_back({tensor.name, *stored_type(format.dtype), tensor.shape});
  }
  layout.files = cut_into_shards(shapes, format.max_shard_bytes);
  const std::size_t shards = layout.files.size();
  for (std::size_t i = 0; i < shards; ++i) {
    PublishedFile& file = layout.files[i];
    file.name = shards == 1 ? "model.safetensors"
                            : fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards);
    // Readers of the PyTorch world ask for the format (transformers, modeling_utils.py).
    file.header = safetensors_header(std::span(shapes).subspan(file.first, file.end - file.first),
                                     {{"format", "pt"}});
    file.bytes = static_cast<std::int64_t>(file.header.size());
    for (std::size_t t = file.first; t < file.end; ++t) {
      layout.begins.push_back(file.bytes);
      file.bytes += bytes_of(shapes[t]);
    }
  }
  if (shards > 1) layout.index = index_text(layout);
  return layout;
}

}  // namespace fourhold::engine
