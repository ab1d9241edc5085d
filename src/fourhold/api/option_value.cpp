#include "fourhold/api/option_value.h"

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/base/quantity.h"

namespace fourhold::api {

void set_from_text(const Option& /*option*/, std::string_view text, const std::string& where,
                   std::string& out) {
  if (text.empty()) throw Error(where, "is empty", "give it a value");
  out = text;
}

void set_from_text(const Option& /*option*/, std::string_view text, const std::string& where,
                   std::optional<Bytes>& out) {
  const Bytes bytes = parse_bytes(text, where);
  if (bytes <= Bytes(0)) throw Error(where, "is no memory at all", "for example 24GiB or 80GB");
  out = bytes;
}

void set_from_text(const Option& option, std::string_view text, const std::string& where,
                   std::optional<double>& out) {
  std::string digits(text);
  const bool percent = !digits.empty() && digits.back() == '%';
  if (percent) digits.pop_back();
  char* end = nullptr;
  double value = std::strtod(digits.c_str(), &end);
  const bool complete = !digits.empty() && end == digits.c_str() + digits.size();
  if (percent) value /= 100;
  const plan::FieldInfo& field = option.field;
  if (!complete || !std::isfinite(value) || value < field.numbers.least ||
      value > field.numbers.most) {
    throw Error(where,
                fmt::format("'{:.40}' is not a share of at least {} and at most {}", text,
                            field.numbers.least, field.numbers.most),
                "for example 0.1 or 10%");
  }
  out = value;
}

void set_from_json(const Option& /*option*/, const json::Value& value, const std::string& where,
                   std::string& out) {
  out = string_of(value, where);
}

void set_from_json(const Option& option, const json::Value& value, const std::string& where,
                   std::optional<Bytes>& out) {
  if (value.is_string()) return set_from_text(option, value.string(), where, out);
  out = Bytes(integer_of(value, where, {.least = 1}));
}

}  // namespace fourhold::api
