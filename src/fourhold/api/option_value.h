// One option's value from a flag's text or from JSON, by the type of its field. Errors name
// `where`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "fourhold/api/option.h"
#include "fourhold/base/json.h"
#include "fourhold/base/units.h"
#include "fourhold/plan/field_value.h"

namespace fourhold::api {

void set_from_text(const Option& option, std::string_view text, const std::string& where,
                   std::string& out);
void set_from_text(const Option& option, std::string_view text, const std::string& where,
                   std::optional<Bytes>& out);
// A number; one of at most 1 is a share: "0.1" or "10%".
void set_from_text(const Option& option, std::string_view text, const std::string& where,
                   std::optional<double>& out);
// Stands alone: it is there.
void set_from_text(const Option& option, std::string_view text, const std::string& where,
                   bool& out);
// May stand several times: in the order of the command line.
void set_from_text(const Option& option, std::string_view text, const std::string& where,
                   std::vector<std::string>& out);
// Everything a plan may hold.
template <class Value>
void set_from_text(const Option& option, std::string_view text, const std::string& where,
                   std::optional<Value>& out) {
  constexpr const Value* type = nullptr;  // chooses how the text is read
  Value read{};
  plan::read_field(plan::json_of_text(text, where, type, option.field.range), where, option.field,
                   read);
  out = std::move(read);
}

void set_from_json(const Option& option, const json::Value& value, const std::string& where,
                   std::string& out);
// Bytes, or a text such as "24GiB".
void set_from_json(const Option& option, const json::Value& value, const std::string& where,
                   std::optional<Bytes>& out);
void set_from_json(const Option& option, const json::Value& value, const std::string& where,
                   bool& out);
void set_from_json(const Option& option, const json::Value& value, const std::string& where,
                   std::vector<std::string>& out);
template <class Value>
void set_from_json(const Option& option, const json::Value& value, const std::string& where,
                   std::optional<Value>& out) {
  Value read{};
  plan::read_field(value, where, option.field, read);
  out = std::move(read);
}

// Whether an option of this field may stand several times.
template <class Field>
inline constexpr bool kRepeats = std::is_same_v<Field, std::vector<std::string>>;

// The closed set of values a field of this type has, or nothing.
template <class Field>
[[nodiscard]] std::vector<std::string_view> choices_of(const Field& /*type*/) {
  return {};
}
template <class Value>
[[nodiscard]] std::vector<std::string_view> choices_of(const std::optional<Value>& /*type*/) {
  if constexpr (std::is_enum_v<Value>) {
    return {plan::kEnumNames<Value>.begin(), plan::kEnumNames<Value>.end()};
  } else if constexpr (std::is_same_v<Value, bool>) {
    return {"on", "off"};
  } else {
    return {};
  }
}

}  // namespace fourhold::api
