// Files that stand where weights were expected, told by their first bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fourhold::model {

struct ForeignFile {
  std::string what;  // "is a Git LFS pointer, not the weights"
  std::string hint;  // the next step
};

// No value when the first bytes (64 are enough) say nothing. Ask only about a file that is no
// safetensors file: the header length of a good one may begin with any of these bytes.
[[nodiscard]] std::optional<ForeignFile> recognise_foreign_file(std::string_view start);

}  // namespace fourhold::model
