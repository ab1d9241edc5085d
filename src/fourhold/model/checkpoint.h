// A whole checkpoint: one safetensors file, or the shards its index names, read by their headers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/model/checkpoint_header.h"

namespace fourhold::model {

struct Checkpoint {
  std::string path;                          // the file or index that was read
  std::vector<std::string> files;            // names of the safetensors files, sorted
  std::vector<StoredTensor> tensors;         // file by file, in the order of their data
  std::vector<std::int32_t> tensor_files;    // of each tensor, the index into files
  std::vector<std::int64_t> data_begins;     // of each file, where its data area starts
  std::optional<std::int64_t> stated_bytes;  // totals the index states
  std::optional<std::int64_t> stated_parameters;
  std::vector<std::string> notes;  // what the reader must know, as sentences
};

// Whether `path` is something read_checkpoint takes: a .safetensors file, an .index.json, or a
// folder that holds either.
[[nodiscard]] bool is_checkpoint_path(const std::string& path);

// Reads the headers. An index is followed as written, whatever its files are called; in a folder
// without one model.safetensors is the model. Files beside it that are not of it are noted, not
// read. Error naming every shard that is missing, or the tensors that a shard should hold and does
// not.
[[nodiscard]] Checkpoint read_checkpoint(const std::string& path);

}  // namespace fourhold::model
