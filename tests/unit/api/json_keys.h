// The shape of a JSON answer as a list of lines "path kind", which tests pin.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fourhold/base/json.h"

namespace fourhold::api {

inline void add_keys(const json::Value& value, const std::string& path,
                     std::vector<std::string>& out) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.object()) {
      add_keys(member, path.empty() ? key : path + "." + key, out);
    }
    return;
  }
  if (value.is_array() && !value.array().empty() && value.array().front().is_object()) {
    add_keys(value.array().front(), path + "[]", out);  // elements are alike
    return;
  }
  std::string_view kind = "text";
  if (value.is_null()) kind = "null";
  if (value.is_boolean()) kind = "boolean";
  if (value.is_integer()) kind = "integer";
  if (value.is_number() && !value.is_integer()) kind = "number";
  if (value.is_array()) kind = "list";
  out.push_back(path + " " + std::string(kind));
}

// Members in their order; of a list of objects its first element. The plan's own fields are the
// plan's contract: `plan` counts as one text.
inline std::vector<std::string> keys_of(const json::Value& value) {
  std::vector<std::string> all;
  add_keys(value, "", all);
  std::vector<std::string> keys;
  for (const std::string& key : all) {
    const std::size_t plan = key.find("plan.");
    const bool inside_plan = plan == 0 || (plan != std::string::npos && key[plan - 1] == '.');
    if (!inside_plan) {
      keys.push_back(key);
    } else if (const std::string short_key = key.substr(0, plan) + "plan object";
               keys.empty() || keys.back() != short_key) {
      keys.push_back(short_key);
    }
  }
  return keys;
}

}  // namespace fourhold::api
