#include "fourhold/api/option_value.h"

#include <algorithm>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/base/parse_number.h"
#include "fourhold/base/quantity.h"

namespace fourhold::api {
namespace {

[[noreturn]] void refuse_empty(const std::string& where) {
  throw Error(where, "is empty", fmt::format("give it a value, or leave {} out", where));
}

constexpr double kPercent = 100;

bool is_within(const NumberRange& range, double value) {
  return value >= range.least && value <= range.most;
}

// "0.1 or 10%": a share that is taken.
const char* example_of(const NumberRange& range) {
  return is_within(range, 0.1) ? "0.1 or 10%" : "0.9 or 90%";
}

}  // namespace

void set_from_text(const Option& /*option*/, std::string_view text, const std::string& where,
                   std::string& out) {
  if (text.empty()) refuse_empty(where);
  out = text;
}

void set_from_text(const Option& /*option*/, std::string_view text, const std::string& where,
                   std::optional<Bytes>& out) {
  const Bytes bytes = parse_bytes(text, where);
  const bool has_unit = text.find_first_not_of("0123456789.eE+_") != std::string_view::npos;
  if (!has_unit && bytes > Bytes(0) && bytes < Bytes(1 << 20)) {
    throw Error(
        where, fmt::format("'{:.40}' has no unit, and would be {}", text, format_bytes(bytes)),
        fmt::format("write {:.40}GiB or {:.40}GB; {:.40}B if bytes are meant", text, text, text));
  }
  if (bytes <= Bytes(0)) throw Error(where, "is no memory at all", "for example 24GiB or 80GB");
  out = bytes;
}

void set_from_text(const Option& option, std::string_view text, const std::string& where,
                   std::optional<double>& out) {
  std::string_view digits = text;
  const plan::FieldInfo& field = option.field;
  const bool is_share = field.numbers.most <= 1;
  const bool percent = is_share && !digits.empty() && digits.back() == '%';
  if (percent) digits.remove_suffix(1);
  const std::optional<double> number = parse_number(digits);
  const std::string example =
      is_share ? std::string(", for example ") + example_of(field.numbers) : "";
  const std::size_t unit = digits.find_first_not_of("0123456789.");
  if (!number && !is_share && unit > 0 && unit != std::string_view::npos &&
      parse_number(digits.substr(0, unit))) {
    throw Error(where, fmt::format("'{:.40}' is not a number", text),
                fmt::format("write {} alone: {}", digits.substr(0, unit), field.help));
  }
  if (!number) {
    throw Error(where, fmt::format("'{:.40}' is not a {}", text, is_share ? "share" : "number"),
                fmt::format("give a number {}{}", range_text(field.numbers), example));
  }
  const double value = percent ? *number / kPercent : *number;
  if (value < field.numbers.least || value > field.numbers.most) {
    const std::string nearest =
        fmt::format("the nearest valid value is {}",
                    std::clamp(value, field.numbers.least, field.numbers.most));
    if (is_share && !percent && value > 1 && is_within(field.numbers, value / kPercent)) {
      throw Error(where, fmt::format("is {:.40}; a share is at most 1", text),
                  fmt::format("write {:.40}%, or {:g}, if that is meant; {}", text,
                              value / kPercent, nearest));
    }
    throw Error(where, fmt::format("is {:.40}; it must be {}", text, range_text(field.numbers)),
                nearest + example);
  }
  out = value;
}

void set_from_text(const Option& /*option*/, std::string_view /*text*/,
                   const std::string& /*where*/, bool& out) {
  out = true;
}

void set_from_text(const Option& /*option*/, std::string_view text, const std::string& where,
                   std::vector<std::string>& out) {
  if (text.empty()) refuse_empty(where);
  out.emplace_back(text);
}

void set_from_json(const Option& /*option*/, const json::Value& value, const std::string& where,
                   bool& out) {
  if (!value.is_boolean()) {
    throw Error(where, fmt::format("must be true or false, not {}", value.kind_name()),
                "write true, or leave it out");
  }
  out = value.boolean();
}

void set_from_json(const Option& /*option*/, const json::Value& value, const std::string& where,
                   std::vector<std::string>& out) {
  if (!value.is_array()) {
    out = {string_of(value, where)};
    return;
  }
  for (const json::Value& one : value.array()) out.push_back(string_of(one, where));
}

void set_from_json(const Option& /*option*/, const json::Value& value, const std::string& where,
                   std::string& out) {
  out = string_of(value, where);
}

void set_from_json(const Option& option, const json::Value& value, const std::string& where,
                   std::optional<Bytes>& out) {
  if (value.is_string()) return set_from_text(option, value.string(), where, out);
  out = Bytes(integer_of(value, where, {.least = 1, .most = kMostBytes.count()}));
}

}  // namespace fourhold::api
