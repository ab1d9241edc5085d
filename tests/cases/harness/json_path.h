// Finding a value inside a JSON document by a path.
#pragma once

#include <string>
#include <string_view>

#include "fourhold/base/json.h"

namespace fourhold::cases {

// What a path leads to: a value, or nullptr with the reason.
struct Found {
  const json::Value* value = nullptr;
  std::string why;  // "no member 'x'; there are a, b, c"
};

// .member   [0]   [-1] (last)   [key with spaces]   [member=text] (first element that has it)
// The empty path and "." are the document itself.
[[nodiscard]] Found find(const json::Value& document, std::string_view path);

}  // namespace fourhold::cases
