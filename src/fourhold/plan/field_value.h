// One field to and from JSON and flag text, by its type; every fault is an Error naming its path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "fourhold/base/json.h"
#include "fourhold/model/adapters.h"
#include "fourhold/plan/field_info.h"
#include "fourhold/plan/recompute_policy.h"

namespace fourhold::plan {

// Index of `text` among the names, or Error with near matches and all of them.
[[nodiscard]] std::size_t index_of_name(std::string_view text, const std::string& path,
                                        std::span<const std::string_view> names);

[[nodiscard]] inline json::Value field_json(bool value) { return value; }
[[nodiscard]] inline json::Value field_json(int value) { return value; }
[[nodiscard]] inline json::Value field_json(std::int64_t value) { return value; }
[[nodiscard]] inline json::Value field_json(double value) { return value; }
[[nodiscard]] inline json::Value field_json(const std::string& value) { return value; }
[[nodiscard]] json::Value field_json(const RecomputePolicy& value);
[[nodiscard]] json::Value field_json(const model::AdapterTargets& value);
[[nodiscard]] json::Value field_json(const std::vector<int>& value);
[[nodiscard]] json::Value field_json(const std::vector<std::int64_t>& value);
[[nodiscard]] json::Value field_json(const std::vector<std::string>& value);
template <class Enum>
requires std::is_enum_v<Enum>
[[nodiscard]] json::Value field_json(Enum value) {
  return kEnumNames<Enum>[static_cast<std::size_t>(value)];
}

// Where the value stands, for Errors.
using Path = std::string;

void read_field(const json::Value& value, const Path& path, const FieldInfo& info, bool& out);
void read_field(const json::Value& value, const Path& path, const FieldInfo& info, int& out);
void read_field(const json::Value& value, const Path& path, const FieldInfo& info,
                std::int64_t& out);
void read_field(const json::Value& value, const Path& path, const FieldInfo& info, double& out);
void read_field(const json::Value& value, const Path& path, const FieldInfo& info,
                std::string& out);
void read_field(const json::Value& value, const Path& path, const FieldInfo& info,
                RecomputePolicy& out);
void read_field(const json::Value& value, const Path& path, const FieldInfo& info,
                model::AdapterTargets& out);
void read_field(const json::Value& value, const Path& path, const FieldInfo& info,
                std::vector<int>& out);
void read_field(const json::Value& value, const Path& path, const FieldInfo& info,
                std::vector<std::int64_t>& out);
void read_field(const json::Value& value, const Path& path, const FieldInfo& info,
                std::vector<std::string>& out);
[[nodiscard]] std::size_t enum_index(const json::Value& value, const Path& path,
                                     std::span<const std::string_view> names);
template <class Enum>
requires std::is_enum_v<Enum>
void read_field(const json::Value& value, const Path& path, const FieldInfo& /*info*/, Enum& out) {
  out = static_cast<Enum>(enum_index(value, path, kEnumNames<Enum>));
}

// The JSON value that the text of a flag stands for, by the type of the field it is for: counts may
// be written "4K", lists "11,12,12,11", true and false also "on", "off", "yes", "no". Hints of
// Errors keep to `range`.
[[nodiscard]] json::Value json_of_text(std::string_view text, const Path& path, const bool* type,
                                       IntegerRange range = {});
[[nodiscard]] json::Value json_of_text(std::string_view text, const Path& path, const int* type,
                                       IntegerRange range = {});
[[nodiscard]] json::Value json_of_text(std::string_view text, const Path& path,
                                       const std::int64_t* type, IntegerRange range = {});
[[nodiscard]] json::Value json_of_text(std::string_view text, const Path& path, const double* type,
                                       IntegerRange range = {});
[[nodiscard]] json::Value json_of_text(std::string_view text, const Path& path,
                                       const std::vector<std::int64_t>* type,
                                       IntegerRange range = {});
// Everything else is written the same in JSON and in a flag.
[[nodiscard]] inline json::Value json_of_text(std::string_view text, const Path& /*path*/,
                                              const void* /*type*/, IntegerRange /*range*/ = {}) {
  return text;
}

}  // namespace fourhold::plan
