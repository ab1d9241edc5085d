// Writes one safetensors file from tensors that are made while it is written.
//
// Layout: model/checkpoint_header.h. The header is padded with spaces to a multiple of 8 bytes, so
// that data are aligned as long as wider types come first.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fourhold/engine/checkpoint/file_writer.h"
#include "fourhold/model/stored_type.h"

namespace fourhold::engine {

// What a header says of a tensor.
struct TensorShape {
  std::string name;
  model::StoredType type = model::StoredType::f32;
  std::vector<std::int64_t> shape;
};
[[nodiscard]] std::int64_t bytes_of(const TensorShape& tensor);

struct TensorSource {
  TensorShape tensor;
  // Appends exactly the tensor's bytes, row by row, in pieces of any size.
  std::function<void(FileWriter&)> append;
};

using Metadata = std::vector<std::pair<std::string, std::string>>;

// All that stands before the data, which are the tensors in the order given.
[[nodiscard]] std::string safetensors_header(std::span<const TensorShape> tensors,
                                             const Metadata& metadata);

// Writes the file `name` into `folder`: tensors in the order given, which must have different
// names. Metadata are left out when empty. Errors are those of FileWriter.
FileSum write_safetensors(const std::string& folder, const std::string& name,
                          std::span<const TensorSource> tensors, const Metadata& metadata);

}  // namespace fourhold::engine
