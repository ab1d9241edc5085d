#include "tests/cases/harness/json_path.h"

#include <charconv>
#include <cstdint>

#include "fourhold/base/error.h"

namespace fourhold::cases {
namespace {

using json::Value;

Found member(const Value& value, std::string_view key) {
  if (!value.is_object()) {
    return {nullptr, "'" + std::string(key) + "' is asked of " + std::string(value.kind_name())};
  }
  if (const Value* found = value.find(key)) return {found, {}};
  std::string names;
  for (const auto& [name, unused] : value.object()) names += (names.empty() ? "" : ", ") + name;
  return {nullptr, "no member '" + std::string(key) + "'; there are " + names};
}

Found element(const Value& value, std::int64_t index) {
  if (!value.is_array()) {
    return {nullptr, "an element is asked of " + std::string(value.kind_name())};
  }
  const auto size = static_cast<std::int64_t>(value.array().size());
  const std::int64_t position = index < 0 ? size + index : index;
  if (position < 0 || position >= size) {
    return {nullptr, "no element " + std::to_string(index) + " of " + std::to_string(size)};
  }
  return {&value.array()[static_cast<std::size_t>(position)], {}};
}

bool equals(const Value& value, std::string_view text) {
  return value.is_string() ? value.string() == text : json::write(value) == text;
}

Found filtered(const Value& value, std::string_view key, std::string_view text) {
  if (!value.is_array()) {
    return {nullptr, "an element is asked of " + std::string(value.kind_name())};
  }
  std::string seen;
  for (const Value& candidate : value.array()) {
    const Value* found = candidate.is_object() ? candidate.find(key) : nullptr;
    if (found == nullptr) continue;
    if (equals(*found, text)) return {&candidate, {}};
    seen += (seen.empty() ? "" : ", ") + json::write(*found, json::Layout::one_line);
  }
  return {nullptr,
          "no element with " + std::string(key) + "=" + std::string(text) + "; there are: " + seen};
}

Found bracket(const Value& value, std::string_view inside) {
  std::int64_t index = 0;
  const char* end = inside.data() + inside.size();
  const auto [stop, fault] = std::from_chars(inside.data(), end, index);
  if (fault == std::errc() && stop == end) return element(value, index);
  const std::size_t equals_sign = inside.find('=');
  if (equals_sign == std::string_view::npos) return member(value, inside);
  return filtered(value, inside.substr(0, equals_sign), inside.substr(equals_sign + 1));
}

}  // namespace

Found find(const Value& document, std::string_view path) {
  Found at{&document, {}};
  if (path == ".") return at;
  while (!path.empty() && at.value != nullptr) {
    if (path.front() == '[') {
      const std::size_t close = path.find(']');
      if (close == std::string_view::npos) throw Error("path", "'[' is never closed", "add ']'");
      at = bracket(*at.value, path.substr(1, close - 1));
      path.remove_prefix(close + 1);
    } else if (path.front() == '.') {
      path.remove_prefix(1);
      const std::size_t stop = path.find_first_of(".[");
      const std::string_view key = path.substr(0, stop);
      if (key.empty()) throw Error("path", "a member without a name", "write .name");
      at = member(*at.value, key);
      path.remove_prefix(key.size());
    } else {
      throw Error("path", "'" + std::string(path) + "' is no path", "start it with '.' or '['");
    }
  }
  return at;
}

}  // namespace fourhold::cases
