#include "fourhold/base/field_reader.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/near_match.h"

namespace fourhold {
namespace {

constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);

[[noreturn]] void wrong_kind(const json::Value& value, const std::string& path,
                             std::string_view wanted) {
  throw Error(path, fmt::format("must be {}, not {}", wanted, value.kind_name()),
              fmt::format("write {} there", wanted));
}

std::string nearest_hint(std::int64_t nearest, IntegerRange range) {
  return range.whole || nearest == range.least
             ? fmt::format("the nearest valid value is {}", nearest)
             : fmt::format("use less than {}: the model and the devices say how much less",
                           nearest);
}

// A number that is no integer: a fraction, a whole number spelled like one, NaN, or an integer that
// left 64 bits and was read as a floating-point number.
[[noreturn]] void not_an_integer(double number, const std::string& path, IntegerRange range) {
  constexpr double kPast = 0x1p63;
  if (number >= kPast || number < -kPast) {
    const std::int64_t nearest = number > 0 ? range.most : range.least;
    throw Error(path,
                fmt::format("is {}; it must be {} {}", number, number > 0 ? "at most" : "at least",
                            nearest),
                nearest_hint(nearest, range));
  }
  const std::string text = fmt::format("{}", number);
  const bool whole = number == std::floor(number);
  const bool plain = text.find_first_of(".e") == std::string::npos;
  throw Error(path, fmt::format("must be an integer, not {}{}", text, whole && plain ? ".0" : ""),
              whole ? fmt::format("write {}", static_cast<std::int64_t>(number))
                    : std::string("write a whole number there"));
}

// Every element of an array, each checked; the path is spelled only when it is needed.
template <class Element, class Check>
std::vector<Element> elements_of(const json::Array& items, const std::string& path,
                                 const Check& check) {
  std::vector<Element> out;
  out.reserve(items.size());
  for (const json::Value& item : items) {
    try {
      out.push_back(check(item));
    } catch (const Error& fault) {
      throw Error(fmt::format("{}[{}]", path, out.size()), fault.what(), fault.hint());
    }
  }
  return out;
}

}  // namespace

std::int64_t integer_of(const json::Value& value, const std::string& path, IntegerRange range) {
  if (value.is_number() && !value.is_integer()) not_an_integer(value.number(), path, range);
  if (!value.is_integer()) wrong_kind(value, path, "an integer");
  const std::int64_t number = value.integer();
  if (number < range.least || number > range.most) {
    const std::int64_t nearest = number < range.least ? range.least : range.most;
    throw Error(path, fmt::format("is {}; it must be {}", number, range_text(range)),
                nearest_hint(nearest, range));
  }
  return number;
}

double number_of(const json::Value& value, const std::string& path, NumberRange range) {
  if (!value.is_number()) wrong_kind(value, path, "a number");
  const double number = value.number();
  if (std::isnan(number) || number < range.least || number > range.most) {
    if (!std::isfinite(number)) {
      throw Error(path, fmt::format("is {}; it must be {}", number, range_text(range)),
                  "write a number in that range");
    }
    throw Error(
        path, fmt::format("is {}; it must be {}", number, range_text(range)),
        fmt::format("the nearest valid value is {}", std::clamp(number, range.least, range.most)));
  }
  return number;
}

std::string string_of(const json::Value& value, const std::string& path) {
  if (!value.is_string()) wrong_kind(value, path, "a string");
  return value.string();
}

bool boolean_of(const json::Value& value, const std::string& path) {
  if (!value.is_boolean()) wrong_kind(value, path, "true or false");
  return value.boolean();
}

FieldReader::FieldReader(json::Value object, std::string path)
    : object_(std::move(object)), path_(std::move(path)) {
  if (!object_.is_object()) wrong_kind(object_, path_, "an object");
  read_.resize(object_.object().size(), false);
}

std::string FieldReader::path(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

std::size_t FieldReader::index_of(std::string_view key) {
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.emplace_back(key);
  const json::Object& members = object_.object();
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].first != key) continue;
    read_[i] = true;
    return i;
  }
  return kAbsent;
}

const json::Value* FieldReader::value(std::string_view key) {
  const std::size_t index = index_of(key);
  if (index == kAbsent || object_.object()[index].second.is_null()) return nullptr;
  return &object_.object()[index].second;
}

bool FieldReader::has(std::string_view key) { return index_of(key) != kAbsent; }

bool FieldReader::is_null(std::string_view key) {
  const std::size_t index = index_of(key);
  return index != kAbsent && object_.object()[index].second.is_null();
}

std::optional<std::int64_t> FieldReader::integer(std::string_view key, IntegerRange range) {
  const json::Value* found = value(key);
  if (found == nullptr) return std::nullopt;
  return integer_of(*found, path(key), range);
}

std::optional<double> FieldReader::number(std::string_view key, NumberRange range) {
  const json::Value* found = value(key);
  if (found == nullptr) return std::nullopt;
  return number_of(*found, path(key), range);
}

std::optional<std::string> FieldReader::string(std::string_view key) {
  const json::Value* found = value(key);
  if (found == nullptr) return std::nullopt;
  return string_of(*found, path(key));
}

std::optional<bool> FieldReader::boolean(std::string_view key) {
  const json::Value* found = value(key);
  if (found == nullptr) return std::nullopt;
  return boolean_of(*found, path(key));
}

std::optional<FieldReader> FieldReader::object(std::string_view key) {
  const json::Value* found = value(key);
  if (found == nullptr) return std::nullopt;
  return FieldReader(*found, path(key));
}

const json::Array* FieldReader::array(std::string_view key) {
  const json::Value* found = value(key);
  if (found == nullptr) return nullptr;
  if (!found->is_array()) wrong_kind(*found, path(key), "an array");
  return &found->array();
}

std::optional<std::vector<std::int64_t>> FieldReader::integers(std::string_view key,
                                                               IntegerRange range) {
  const json::Array* items = array(key);
  if (items == nullptr) return std::nullopt;
  return elements_of<std::int64_t>(
      *items, path(key), [range](const json::Value& item) { return integer_of(item, {}, range); });
}

std::optional<std::vector<double>> FieldReader::numbers(std::string_view key, NumberRange range) {
  const json::Array* items = array(key);
  if (items == nullptr) return std::nullopt;
  return elements_of<double>(
      *items, path(key), [range](const json::Value& item) { return number_of(item, {}, range); });
}

std::optional<std::vector<std::string>> FieldReader::strings(std::string_view key) {
  const json::Array* items = array(key);
  if (items == nullptr) return std::nullopt;
  return elements_of<std::string>(*items, path(key),
                                  [](const json::Value& item) { return string_of(item, {}); });
}

void FieldReader::missing(std::string_view key) const {
  throw Error(path(key), "is missing", "add it to the file");
}

std::int64_t FieldReader::required_integer(std::string_view key, IntegerRange range) {
  const auto found = integer(key, range);
  if (!found.has_value()) missing(key);
  return *found;
}

double FieldReader::required_number(std::string_view key, NumberRange range) {
  const auto found = number(key, range);
  if (!found.has_value()) missing(key);
  return *found;
}

std::string FieldReader::required_string(std::string_view key) {
  auto found = string(key);
  if (!found.has_value()) missing(key);
  return *std::move(found);
}

json::Object FieldReader::unread_members() const {
  json::Object unread;
  const json::Object& members = object_.object();
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!read_[i]) unread.push_back(members[i]);
  }
  return unread;
}

std::vector<std::string> FieldReader::unread() const {
  std::vector<std::string> names;
  for (auto& [name, value] : unread_members()) names.push_back(name);
  return names;
}

std::vector<std::string> FieldReader::absent() const {
  std::vector<std::string> names;
  const json::Object& members = object_.object();
  for (const std::string& name : asked_) {
    const bool there = std::any_of(members.begin(), members.end(),
                                   [&name](const auto& member) { return member.first == name; });
    if (!there) names.push_back(name);
  }
  return names;
}

void FieldReader::refuse_unread() const {
  const std::vector<std::string> names = unread();
  if (names.empty()) return;
  const std::vector<std::string_view> known(asked_.begin(), asked_.end());
  std::string hint = did_you_mean(names.front(), known);
  if (hint.empty()) hint = "remove it";
  throw Error(path(fmt::format("{:.60}", names.front())), "is not a known field", std::move(hint));
}

const json::Value& document_or_sole(const json::Value& document, std::string_view list) {
  if (!document.is_object()) return document;
  for (const auto& [name, value] : document.object()) {
    if (name != list || !value.is_array()) continue;
    if (value.array().size() == 1) return value.array().front();
    throw Error(std::string(list), fmt::format("holds {} elements", value.array().size()),
                "keep the one that is meant");
  }
  return document;
}

}  // namespace fourhold
