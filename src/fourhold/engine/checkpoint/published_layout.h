// Where every published tensor of a model stands on the disk: files, headers, offsets, index. It
// follows from the config and the format alone, so that all ranks of a run find the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/base/dtype.h"
#include "fourhold/base/json.h"
#include "fourhold/model/model_config.h"
#include "fourhold/model/published_tensors.h"

namespace fourhold::engine {

struct WeightsFormat {
  DType dtype = DType::bf16;  // fp32 or bf16
  // A shard is closed before it would grow beyond; one larger tensor is a shard of its own.
  std::int64_t max_shard_bytes = 5'000'000'000;
  json::Object carried{};  // of config.json: see model/write_hf_config.h
};

// A shard: its header, then its tensors one after the other.
struct PublishedFile {
  std::string name;
  std::string header;
  std::int64_t bytes = 0;  // of the whole file
  std::size_t first = 0;   // its tensors: [first, end) of the layout's
  std::size_t end = 0;
};

struct PublishedLayout {
  DType dtype = DType::bf16;
  std::vector<PublishedFile> files;
  std::vector<model::PublishedTensor> tensors;
  std::vector<std::int64_t> begins;  // of each tensor, in its file
  std::string config;                // the text of config.json
  std::optional<std::string> index;  // of model.safetensors.index.json, where there are shards

  // Of the weights themselves in one file, without its header.
  [[nodiscard]] static std::int64_t data_bytes(const PublishedFile& file) {
    return file.bytes - static_cast<std::int64_t>(file.header.size());
  }
};

// Error for a format that is not written, and as model::published_tensors and
// model::write_hf_config.
[[nodiscard]] PublishedLayout lay_out(const model::ModelConfig& config,
                                      const WeightsFormat& format);

}  // namespace fourhold::engine
