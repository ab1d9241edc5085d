// Files that stand where tokens were expected, told by their bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fourhold::engine::data {

struct ForeignData {
  std::string what;  // "is a gzip archive"
  std::string hint;  // the next step
};

// Archives, tables, models and pointers; no value when the bytes may be tokens or text.
[[nodiscard]] std::optional<ForeignData> recognise_packed_data(std::string_view file);

// The same, and text. Ask only about a file without a magic of its own.
[[nodiscard]] std::optional<ForeignData> recognise_foreign_data(std::string_view file);

// Text of any length and encoding, by its lack of control bytes. Ask only about bytes that were
// found to be no tokens: those of few tokens may lack them too.
[[nodiscard]] std::optional<ForeignData> recognise_short_text(std::string_view file);

}  // namespace fourhold::engine::data
