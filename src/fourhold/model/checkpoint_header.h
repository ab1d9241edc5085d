// The header of a safetensors file: what tensors it holds, never their values.
//
// Layout: 8 bytes little-endian header length N, N bytes of JSON {name: {dtype, shape,
// data_offsets}} with an optional "__metadata__" of strings, then the data the offsets point into,
// without holes (github.com/safetensors/safetensors, "Format").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fourhold/model/stored_type.h"

namespace fourhold::model {

// The format's own limit on N.
inline constexpr std::int64_t kMaxHeaderBytes = 100'000'000;
// The format has no limit on the rank; PyTorch and NumPy stop at 64.
inline constexpr std::int64_t kMaxStoredRank = 64;

struct StoredTensor {
  std::string name;
  StoredType type = StoredType::f32;
  std::vector<std::int64_t> shape;  // empty for a scalar
  std::int64_t elements = 0;        // product of the shape
  std::int64_t begin = 0;           // in the data area
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t bytes() const { return end - begin; }
};

struct CheckpointHeader {
  std::vector<StoredTensor> tensors;  // in the order of their data
  std::vector<std::pair<std::string, std::string>> metadata;
  std::int64_t data_begin = 0;  // where the data area starts in the file
  std::int64_t data_bytes = 0;
};

// Reads and checks the header of a file. Error with the byte's offset and the reason; a file that
// is something else (a Git LFS pointer, an HTML page, a pickle ...) is named as that.
[[nodiscard]] CheckpointHeader read_checkpoint_header(const std::string& path);

// The same from the first bytes of a file of `file_bytes` bytes; they must hold the whole header.
[[nodiscard]] CheckpointHeader parse_checkpoint_header(std::string_view start,
                                                       std::int64_t file_bytes,
                                                       const std::string& where);

}  // namespace fourhold::model
