#include "fourhold/engine/checkpoint/published_writer.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/engine/checkpoint/element_copy.h"
#include "fourhold/engine/checkpoint/file_writer.h"
#include "fourhold/engine/checkpoint/safetensors_writer.h"
#include "fourhold/model/write_hf_config.h"

namespace fourhold::engine {
namespace {

using model::MatrixSize;
using model::PublishedPart;
using model::PublishedTensor;

// Room for one window before and after it is turned.
struct Scratch {
  std::vector<std::byte> window;
  std::vector<std::byte> turned;
};

// How many rows (or columns) of `each` elements make a window.
std::int64_t lines_per_window(std::int64_t each, DType dtype) {
  return std::max<std::int64_t>(1, kWindowBytes / std::max<std::int64_t>(1, bytes_of(each, dtype)));
}

void append_part(const PublishedPart& part, DType dtype, const WeightSource& source,
                 Scratch& scratch, FileWriter& file) {
  const std::int64_t step = lines_per_window(part.size.columns, dtype);
  for (std::int64_t row = 0; row < part.size.rows; row += step) {
    const Window window{row, std::min(row + step, part.size.rows), 0, part.size.columns};
    scratch.window.resize(
        static_cast<std::size_t>(bytes_of(window.rows() * window.columns(), dtype)));
    source(part, window, scratch.window.data());
    file.append(scratch.window);
  }
}

// A transposed tensor row by row is its parts' columns, a strip of them at a time.
void append_turned(const PublishedTensor& tensor, DType dtype, const WeightSource& source,
                   Scratch& scratch, FileWriter& file) {
  const std::int64_t columns = tensor.shape.front();
  const std::int64_t rows = tensor.shape.back();
  const std::int64_t step = lines_per_window(rows, dtype);
  for (std::int64_t column = 0; column < columns; column += step) {
    const std::int64_t end = std::min(column + step, columns);
    scratch.turned.resize(static_cast<std::size_t>(bytes_of((end - column) * rows, dtype)));
    std::int64_t first = 0;
    for (const PublishedPart& part : tensor.parts) {
      const Window window{0, part.size.rows, column, end};
      scratch.window.resize(
          static_cast<std::size_t>(bytes_of(window.rows() * window.columns(), dtype)));
      source(part, window, scratch.window.data());
      copy_elements({scratch.window.data(), dtype, window.columns(), 1},
                    {scratch.turned.data() + bytes_of(first, dtype), dtype, 1, rows}, window.rows(),
                    window.columns());
      first += part.size.rows;
    }
    file.append(scratch.turned);
  }
}

std::vector<TensorSource> make_sources(const std::vector<PublishedTensor>& tensors, DType dtype,
                                       const WeightSource& source, Scratch& scratch) {
  const model::StoredType type =
      dtype == DType::bf16 ? model::StoredType::bf16 : model::StoredType::f32;
  std::vector<TensorSource> sources;
  sources.reserve(tensors.size());
  for (const PublishedTensor& tensor : tensors) {
    sources.push_back({tensor.name, type, tensor.shape, [&, dtype](FileWriter& file) {
                         if (tensor.transposed) {
                           append_turned(tensor, dtype, source, scratch, file);
                           return;
                         }
                         for (const PublishedPart& part : tensor.parts) {
                           append_part(part, dtype, source, scratch, file);
                         }
                       }});
  }
  return sources;
}

// Runs of tensors that share a file, in order.
std::vector<std::span<const TensorSource>> cut_into_shards(std::span<const TensorSource> tensors,
                                                           std::int64_t max_bytes) {
  std::vector<std::span<const TensorSource>> shards;
  std::size_t first = 0;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::int64_t more = bytes_of(tensors[i]);
    if (i > first && bytes + more > max_bytes) {
      shards.push_back(tensors.subspan(first, i - first));
      first = i;
      bytes = 0;
    }
    bytes += more;
  }
  shards.push_back(tensors.subspan(first));
  return shards;
}

std::string index_text(const std::vector<std::span<const TensorSource>>& shards,
                       const std::vector<FileSum>& files) {
  std::int64_t total = 0;
  json::Object map;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    for (const TensorSource& tensor : shards[i]) {
      total += bytes_of(tensor);
      map.emplace_back(tensor.name, files[i].name);
    }
  }
  return json::write(json::Object{{"metadata", json::Object{{"total_size", total}}},
                                  {"weight_map", std::move(map)}}) +
         "\n";
}

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

}  // namespace

void copy_window(const Tensor& parameter, const MatrixSize& size, const Window& window, DType dtype,
                 std::byte* out) {
  const std::int64_t first = window.row_begin * size.columns + window.column_begin;
  copy_elements({parameter.data + bytes_of(first, parameter.dtype), parameter.dtype, size.columns},
                {out, dtype, window.columns()}, window.rows(), window.columns());
}

std::vector<FileSum> write_published(const std::string& folder, const model::ModelConfig& config,
                                     const WeightsFormat& format, const WeightSource& source) {
  check_format(format);
  const std::string config_text = model::write_hf_config(config, format.dtype, format.carried);
  const std::vector<PublishedTensor> tensors = model::published_tensors(config);
  Scratch scratch;
  const std::vector<TensorSource> sources = make_sources(tensors, format.dtype, source, scratch);
  const auto shards = cut_into_shards(sources, format.max_shard_bytes);
  // Readers of the PyTorch world ask for it (transformers, modeling_utils.py).
  const Metadata metadata{{"format", "pt"}};

  std::vector<FileSum> files;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::string name =
        shards.size() == 1 ? "model.safetensors"
                           : fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
    files.push_back(write_safetensors(folder, name, shards[i], metadata));
  }
  if (shards.size() > 1) {
    files.push_back(
        write_new_file(folder, "model.safetensors.index.json", index_text(shards, files)));
  }
  files.push_back(write_new_file(folder, "config.json", config_text));
  return files;
}

}  // namespace fourhold::engine
