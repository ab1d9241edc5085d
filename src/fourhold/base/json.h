// JSON values in and out. Only json_parse.cpp knows the JSON library.
//
// Reading is strict: depth at most 64, duplicate keys refused, trailing text refused, errors carry
// line and column. Objects keep their order, so output is deterministic.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fourhold::json {

class Value;
using Array = std::vector<Value>;
using Object = std::vector<std::pair<std::string, Value>>;

class Value {
 public:
  Value() = default;                                             // null
  Value(std::nullptr_t) {}                                       // NOLINT(google-explicit-*)
  Value(bool value) : data_(value) {}                            // NOLINT
  Value(std::int64_t value) : data_(value) {}                    // NOLINT
  Value(int value) : data_(static_cast<std::int64_t>(value)) {}  // NOLINT
  Value(double value) : data_(value) {}                          // NOLINT
  Value(std::string value) : data_(std::move(value)) {}          // NOLINT
  Value(std::string_view value) : data_(std::string(value)) {}   // NOLINT
  Value(const char* value) : data_(std::string(value)) {}        // NOLINT
  Value(Array value);                                            // NOLINT
  Value(Object value);                                           // NOLINT

  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  [[nodiscard]] bool is_boolean() const { return std::holds_alternative<bool>(data_); }
  [[nodiscard]] bool is_integer() const { return std::holds_alternative<std::int64_t>(data_); }
  // An integer or a floating-point number.
  [[nodiscard]] bool is_number() const;
  [[nodiscard]] bool is_string() const { return std::holds_alternative<std::string>(data_); }
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] bool is_object() const;

  // The contents; asserts the kind (check first: a reader turns a wrong kind into an Error).
  [[nodiscard]] bool boolean() const { return std::get<bool>(data_); }
  [[nodiscard]] std::int64_t integer() const { return std::get<std::int64_t>(data_); }
  [[nodiscard]] double number() const;
  [[nodiscard]] const std::string& string() const { return std::get<std::string>(data_); }
  [[nodiscard]] const Array& array() const;
  [[nodiscard]] const Object& object() const;

  // The member of that name, or nullptr: absent is not an error here.
  [[nodiscard]] const Value* find(std::string_view key) const;
  // "null", "a number", "an object" ... for error texts.
  [[nodiscard]] std::string_view kind_name() const;

  // Members of objects are compared in order.
  friend bool operator==(const Value& a, const Value& b);

 private:
  // Shared and immutable: copying a Value is cheap.
  std::variant<std::monostate, bool, std::int64_t, double, std::string,
               std::shared_ptr<const Array>, std::shared_ptr<const Object>>
      data_;
};

// Python writes NaN, Infinity and -Infinity into config.json; nothing else may.
enum class Literals : std::uint8_t { strict, nan_and_infinity };

// Parses a whole document. Throws Error with `where` and "line L, column C" on any fault.
// Integers outside int64 become doubles. Heap stays under 64 MiB for texts under 1 MiB.
[[nodiscard]] Value parse(std::string_view text, const std::string& where,
                          Literals literals = Literals::strict);

// Text of a value, valid UTF-8; two-space indent, or one line. NaN and infinities are written as
// null, bytes that are not UTF-8 as U+FFFD each.
enum class Layout : std::uint8_t { indented, one_line };
[[nodiscard]] std::string write(const Value& value, Layout layout = Layout::indented);

}  // namespace fourhold::json
