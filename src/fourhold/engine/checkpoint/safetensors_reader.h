// Opens safetensors files: every tensor with its bytes, mapped and checked against the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fourhold/engine/files/mapped_file.h"
#include "fourhold/model/checkpoint_header.h"

namespace fourhold::engine {

// A tensor of a file: a view.
struct StoredBytes {
  model::StoredTensor tensor;
  std::span<const std::byte> bytes;  // as long as the tensor says; unaligned
  std::string file;                  // its path
};

// One file that stands in memory. Errors as model::parse_checkpoint_header.
struct SafetensorsFile {
  std::vector<StoredBytes> tensors;  // in the order of their data
  std::vector<std::pair<std::string, std::string>> metadata;
};
[[nodiscard]] SafetensorsFile parse_safetensors(std::span<const std::byte> file,
                                                const std::string& where);

// The weights at a path: a file, an index with its shards, or a folder of either. Keeps the files
// mapped; nothing is read before it is used.
class WeightFiles {
 public:
  // Errors as model::read_checkpoint: a shard or a tensor of the index that is missing, a header
  // that is no header (with the byte's offset), a file that is something else.
  explicit WeightFiles(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::vector<StoredBytes>& tensors() const { return tensors_; }
  // What was found beside the weights and not used, as sentences.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::string path_;
  std::vector<MappedFile> files_;
  std::vector<StoredBytes> tensors_;
  std::vector<std::string> notes_;
};

}  // namespace fourhold::engine
