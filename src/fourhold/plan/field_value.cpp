#include "fourhold/plan/field_value.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/near_match.h"
#include "fourhold/base/parse_number.h"
#include "fourhold/base/quantity.h"
#include "fourhold/plan/legal_values.h"
#include "fourhold/plan/lora_targets.h"

namespace fourhold::plan {
namespace {

constexpr std::array<std::string_view, 3> kTrueTexts{"true", "on", "yes"};
constexpr std::array<std::string_view, 3> kFalseTexts{"false", "off", "no"};

template <class Element>
json::Value array_json(const std::vector<Element>& values) {
  json::Array items;
  items.reserve(values.size());
  for (const Element& value : values) items.emplace_back(value);
  return items;
}

// Reads a list element by element with the reader of one element.
template <class Element>
void read_list(const json::Value& value, const Path& path, const FieldInfo& info,
               std::vector<Element>& out) {
  if (!value.is_array()) {
    throw Error(path, fmt::format("must be an array, not {}", value.kind_name()),
                "write a list in brackets there, or [] for an empty one");
  }
  out.clear();
  out.reserve(value.array().size());
  for (const json::Value& item : value.array()) {
    Element element{};
    try {
      read_field(item, {}, info, element);
    } catch (const Error& fault) {
      throw Error(fmt::format("{}[{}]", path, out.size()), fault.what(), fault.hint());
    }
    out.push_back(std::move(element));
  }
}

}  // namespace

std::size_t index_of_name(std::string_view text, const std::string& path,
                          std::span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string near = did_you_mean(text, known);
  throw Error(path, fmt::format("'{:.40}' is not one of its values", text),
              fmt::format("{}{}it may be {}", near, near.empty() ? "" : " ", list_text(known)));
}

std::size_t enum_index(const json::Value& value, const Path& path,
                       std::span<const std::string_view> names) {
  return index_of_name(string_of(value, path), path, names);
}

json::Value field_json(const RecomputePolicy& value) { return to_string(value); }
json::Value field_json(const model::AdapterTargets& value) { return to_string(value); }
json::Value field_json(const std::vector<int>& value) { return array_json(value); }
json::Value field_json(const std::vector<std::int64_t>& value) { return array_json(value); }
json::Value field_json(const std::vector<std::string>& value) { return array_json(value); }

void read_field(const json::Value& value, const Path& path, const FieldInfo& /*info*/, bool& out) {
  out = boolean_of(value, path);
}
void read_field(const json::Value& value, const Path& path, const FieldInfo& info, int& out) {
  out = static_cast<int>(integer_of(value, path, info.range));
}
void read_field(const json::Value& value, const Path& path, const FieldInfo& info,
                std::int64_t& out) {
  out = integer_of(value, path, info.range);
}
void read_field(const json::Value& value, const Path& path, const FieldInfo& info, double& out) {
  out = number_of(value, path, info.numbers);
}
void read_field(const json::Value& value, const Path& path, const FieldInfo& /*info*/,
                std::string& out) {
  out = string_of(value, path);
}
void read_field(const json::Value& value, const Path& path, const FieldInfo& /*info*/,
                RecomputePolicy& out) {
  const std::string text = string_of(value, path);
  try {
    out = recompute_from_string(text);
  } catch (const Error& fault) {
    throw Error(path, fault.what(), fault.hint());
  }
}
void read_field(const json::Value& value, const Path& path, const FieldInfo& /*info*/,
                model::AdapterTargets& out) {
  const std::string text = string_of(value, path);
  try {
    out = lora_targets_from_string(text);
  } catch (const Error& fault) {
    throw Error(path, fault.what(), fault.hint());
  }
}
void read_field(const json::Value& value, const Path& path, const FieldInfo& info,
                std::vector<int>& out) {
  read_list(value, path, info, out);
}
void read_field(const json::Value& value, const Path& path, const FieldInfo& info,
                std::vector<std::int64_t>& out) {
  read_list(value, path, info, out);
}
void read_field(const json::Value& value, const Path& path, const FieldInfo& info,
                std::vector<std::string>& out) {
  read_list(value, path, info, out);
}

json::Value json_of_text(std::string_view text, const Path& path, const bool* /*type*/,
                         IntegerRange /*range*/) {
  if (std::find(kTrueTexts.begin(), kTrueTexts.end(), text) != kTrueTexts.end()) return true;
  if (std::find(kFalseTexts.begin(), kFalseTexts.end(), text) != kFalseTexts.end()) return false;
  throw Error(path, fmt::format("'{:.40}' is neither on nor off", text), "write on or off");
}
json::Value json_of_text(std::string_view text, const Path& path, const int* /*type*/,
                         IntegerRange range) {
  return parse_count(text, path, range);
}
json::Value json_of_text(std::string_view text, const Path& path, const std::int64_t* /*type*/,
                         IntegerRange range) {
  return parse_count(text, path, range);
}
json::Value json_of_text(std::string_view text, const Path& path, const double* /*type*/,
                         IntegerRange /*range*/) {
  const std::optional<double> value = parse_number(text);
  if (value) return *value;
  throw Error(path, fmt::format("'{:.40}' is not a number", text), "give a number such as 0.05");
}
json::Value json_of_text(std::string_view text, const Path& path,
                         const std::vector<std::int64_t>* /*type*/, IntegerRange range) {
  json::Array items;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    items.emplace_back(parse_count(text.substr(0, comma), path, range));
    if (comma == text.size()) return items;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace fourhold::plan
