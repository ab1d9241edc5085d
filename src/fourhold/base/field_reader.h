// Typed, checked reading of one JSON object: every fault is an Error that names the field's path.
//
// The reader remembers which names were asked for, so that what nobody asked for can be reported.
// An absent member and a null are the same: no value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/base/json.h"
#include "fourhold/base/range.h"

namespace fourhold {

class FieldReader {
 public:
  // `path` is where the object stands ("" for the whole document, "text_config", "links[2]").
  // Error unless the value is an object.
  FieldReader(json::Value object, std::string path);

  // "text_config.num_hidden_layers".
  [[nodiscard]] std::string path(std::string_view key) const;
  [[nodiscard]] const std::string& path() const { return path_; }

  // The member, or nullptr when it is absent or null. Counts as asked for.
  const json::Value* value(std::string_view key);
  // Present, be it as null. Counts as asked for.
  bool has(std::string_view key);
  // Present as null: for the few fields where that is not the same as absent.
  bool is_null(std::string_view key);

  // No value when absent or null; Error for another kind or outside the range.
  std::optional<std::int64_t> integer(std::string_view key, IntegerRange range = {});
  std::optional<double> number(std::string_view key, NumberRange range = {});
  std::optional<std::string> string(std::string_view key);
  std::optional<bool> boolean(std::string_view key);
  std::optional<FieldReader> object(std::string_view key);
  const json::Array* array(std::string_view key);
  std::optional<std::vector<std::int64_t>> integers(std::string_view key, IntegerRange range = {});
  std::optional<std::vector<double>> numbers(std::string_view key, NumberRange range = {});
  std::optional<std::vector<std::string>> strings(std::string_view key);

  // The same, where absence is an Error.
  std::int64_t required_integer(std::string_view key, IntegerRange range = {});
  double required_number(std::string_view key, NumberRange range = {});
  std::string required_string(std::string_view key);

  // Members nobody asked for, in their order: their names, or name and value.
  [[nodiscard]] std::vector<std::string> unread() const;
  [[nodiscard]] json::Object unread_members() const;
  // Error for the first of them, with near matches among the names asked for.
  void refuse_unread() const;
  // Names that were asked for and are not there, in the order of asking.
  [[nodiscard]] std::vector<std::string> absent() const;

 private:
  std::size_t index_of(std::string_view key);
  [[noreturn]] void missing(std::string_view key) const;

  json::Value object_;
  std::string path_;
  std::vector<bool> read_;          // by member
  std::vector<std::string> asked_;  // in the order of asking, without repetition
};

// Checks of one value, for elements of arrays. `path` names it in Errors.
[[nodiscard]] std::int64_t integer_of(const json::Value& value, const std::string& path,
                                      IntegerRange range = {});
[[nodiscard]] double number_of(const json::Value& value, const std::string& path,
                               NumberRange range = {});
[[nodiscard]] std::string string_of(const json::Value& value, const std::string& path);
[[nodiscard]] bool boolean_of(const json::Value& value, const std::string& path);

// The document itself, or the one element of its list of that name: what `--json` prints of one
// device or profile is a file of it. Error where the list does not hold exactly one.
[[nodiscard]] const json::Value& document_or_sole(const json::Value& document,
                                                  std::string_view list);

}  // namespace fourhold
