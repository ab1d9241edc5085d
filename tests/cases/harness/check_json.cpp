#include "tests/cases/harness/check_json.h"

#include <cmath>
#include <cstdint>
#include <cstdio>

#include "fourhold/base/error.h"
#include "tests/cases/harness/json_path.h"

namespace fourhold::cases {
namespace {

using json::Value;

std::string shown(const Value& value) {
  constexpr std::size_t kLongest = 300;
  std::string text = json::write(value, json::Layout::one_line);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + " ...";
  return text;
}

std::string shown(long double number) {
  char text[64];
  std::snprintf(text, sizeof text, std::floor(number) == number ? "%.0Lf" : "%.12Lg", number);
  return text;
}

std::string unless(bool holds, const Value& actual) {
  return holds ? std::string() : "actual " + shown(actual);
}

// Text, true, false or null; numbers are left to compare_numbers.
bool is_plain_value(const std::vector<Word>& value) {
  return value.size() == 1 && (value[0].quoted || value[0].text == "true" ||
                               value[0].text == "false" || value[0].text == "null");
}

bool equals_plain(const Value& actual, const Word& word) {
  if (word.quoted) return actual.is_string() && actual.string() == word.text;
  if (word.text == "null") return actual.is_null();
  return actual.is_boolean() && actual.boolean() == (word.text == "true");
}

bool contains(const Value& actual, const std::string& text) {
  if (actual.is_string()) return actual.string().find(text) != std::string::npos;
  if (actual.is_object()) return actual.find(text) != nullptr;
  if (!actual.is_array()) return false;
  for (const Value& element : actual.array()) {
    const std::string written =
        element.is_string() ? element.string() : json::write(element, json::Layout::one_line);
    if (written.find(text) != std::string::npos) return true;
  }
  return false;
}

bool holds(long double actual, const std::string& op, long double expected) {
  if (op == "=") return actual == expected;
  if (op == "!=") return actual != expected;
  if (op == "<") return actual < expected;
  if (op == ">") return actual > expected;
  if (op == "<=") return actual <= expected;
  if (op == ">=") return actual >= expected;
  throw Error("json", "'" + op + "' is no operator",
              "use = != ~ < > <= >= contains lacks count exists absent null");
}

// "0.5%" is relative to the expected value; a plain number is absolute, in the value's unit.
long double tolerance(const std::string& text, long double expected) {
  if (!text.empty() && text.back() == '%') {
    const auto percent = parse_number(std::string_view(text).substr(0, text.size() - 1));
    if (percent) return std::fabs(expected) * *percent / 100;
  } else if (const auto absolute = parse_number(text)) {
    return *absolute;
  }
  throw Error("json", "'" + text + "' is no tolerance", "end the line with 0.5% or with a number");
}

std::string compare_numbers(const Value& actual, const std::string& op, std::vector<Word> value,
                            const Documents& documents) {
  if (value.empty()) throw Error("json", "no value after '" + op + "'");
  std::string tolerance_text;
  if (op == "~") {
    tolerance_text = value.back().text;
    value.pop_back();
    if (value.empty()) throw Error("json", "'~' needs a value and a tolerance", "~ 31.4GB 0.5%");
  }
  const long double expected = evaluate(value, documents);
  if (!actual.is_number()) return unless(false, actual) + ", expected a number";
  const long double number = actual.is_integer() ? static_cast<long double>(actual.integer())
                                                 : static_cast<long double>(actual.number());
  const long double difference = number - expected;
  const bool good = op == "~" ? std::fabs(difference) <= tolerance(tolerance_text, expected)
                              : holds(number, op, expected);
  if (good) return {};
  std::string text = "actual " + shown(number) + ", expected " + shown(expected);
  if (expected != 0) {
    char percent[32];
    std::snprintf(percent, sizeof percent, "%+.4Lg%%", 100 * difference / expected);
    text += " (" + std::string(percent) + ")";
  }
  return text;
}

}  // namespace

std::string check_json(const std::vector<Word>& words, const Documents& documents) {
  const std::string& op = words[1].text;
  const std::vector<Word> value(words.begin() + 2, words.end());
  const Found found = find(documents.at(""), words[0].text);
  if (op == "absent") return found.value == nullptr ? "" : "actual " + shown(*found.value);
  if (found.value == nullptr) return found.why;
  const Value& actual = *found.value;

  if (op == "exists") return {};
  if (op == "null") return unless(actual.is_null(), actual);
  if ((op == "contains" || op == "lacks") && value.size() == 1) {
    return unless(contains(actual, value[0].text) == (op == "contains"), actual);
  }
  if (op == "count") {
    if (!actual.is_array() && !actual.is_object()) return unless(false, actual);
    const std::size_t size = actual.is_array() ? actual.array().size() : actual.object().size();
    return compare_numbers(Value(static_cast<std::int64_t>(size)), "=", value, documents);
  }
  if ((op == "=" || op == "!=") && is_plain_value(value)) {
    return unless(equals_plain(actual, value[0]) == (op == "="), actual);
  }
  return compare_numbers(actual, op, value, documents);
}

}  // namespace fourhold::cases
