#include "fourhold/base/json.h"

namespace fourhold::json {

// An empty container is a null pointer: "[]" then costs no heap.
Value::Value(Array value)
    : data_(value.empty() ? nullptr : std::make_shared<const Array>(std::move(value))) {}
Value::Value(Object value)
    : data_(value.empty() ? nullptr : std::make_shared<const Object>(std::move(value))) {}

bool Value::is_number() const { return is_integer() || std::holds_alternative<double>(data_); }
bool Value::is_array() const { return std::holds_alternative<std::shared_ptr<const Array>>(data_); }
bool Value::is_object() const {
  return std::holds_alternative<std::shared_ptr<const Object>>(data_);
}

double Value::number() const {
  return is_integer() ? static_cast<double>(integer()) : std::get<double>(data_);
}

const Array& Value::array() const {
  static const Array empty;
  const auto& pointer = std::get<std::shared_ptr<const Array>>(data_);
  return pointer == nullptr ? empty : *pointer;
}

const Object& Value::object() const {
  static const Object empty;
  const auto& pointer = std::get<std::shared_ptr<const Object>>(data_);
  return pointer == nullptr ? empty : *pointer;
}

const Value* Value::find(std::string_view key) const {
  if (!is_object()) return nullptr;
  for (const auto& [name, value] : object()) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::string_view Value::kind_name() const {
  if (is_null()) return "null";
  if (is_boolean()) return "a boolean";
  if (is_number()) return "a number";
  if (is_string()) return "a string";
  return is_array() ? "an array" : "an object";
}

bool operator==(const Value& a, const Value& b) {
  if (a.is_array() && b.is_array()) return a.array() == b.array();
  if (a.is_object() && b.is_object()) return a.object() == b.object();
  return a.data_ == b.data_;
}

}  // namespace fourhold::json
