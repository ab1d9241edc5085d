// The index of a sharded checkpoint: which file holds which tensor (model.safetensors.index.json).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fourhold::model {

struct CheckpointIndex {
  struct Entry {
    std::string tensor;
    std::int32_t shard = 0;  // index into shards
  };
  std::vector<Entry> entries;               // in the order of the file
  std::vector<std::string> shards;          // file names, sorted, each once; any name is followed
  std::optional<std::int64_t> total_bytes;  // metadata.total_size
  std::optional<std::int64_t> total_parameters;  // metadata.total_parameters, newer writers
};

// Reads {metadata, weight_map}; other members are ignored. Error naming the field: no weight_map,
// an empty one, a shard that is no plain file name (it must lie beside the index), or PyTorch's
// pickled .bin shards, whose headers cannot be read.
[[nodiscard]] CheckpointIndex parse_checkpoint_index(std::string_view text,
                                                     const std::string& where);

// The same from a file of at most 100 MB.
[[nodiscard]] CheckpointIndex read_checkpoint_index(const std::string& path);

}  // namespace fourhold::model
