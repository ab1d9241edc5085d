#include "tests/cases/harness/expression.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "fourhold/base/error.h"
#include "tests/cases/harness/json_path.h"

namespace fourhold::cases {
namespace {

struct Unit {
  std::string_view name;
  long double factor;
};
constexpr std::array kUnits{
    Unit{"", 1},          Unit{"KiB", 0x1p10L}, Unit{"MiB", 0x1p20L},
    Unit{"GiB", 0x1p30L}, Unit{"TiB", 0x1p40L}, Unit{"KB", 1e3L},
    Unit{"MB", 1e6L},     Unit{"GB", 1e9L},     Unit{"TB", 1e12L},
};

long double number_at(const std::string& reference, const Documents& documents) {
  const std::size_t start = std::min(reference.find_first_of(".["), reference.size());
  const auto document = documents.find(reference.substr(0, start));
  if (document == documents.end()) {
    throw Error("value", "'" + reference + "' is neither a number nor a run named before",
                "numbers may end in GiB or GB; runs are named by 'name:'");
  }
  const Found found = find(document->second, std::string_view(reference).substr(start));
  if (found.value == nullptr) throw Error("value", reference + ": " + found.why);
  if (!found.value->is_number()) {
    throw Error("value", reference + " is " + std::string(found.value->kind_name()));
  }
  // Integers keep all their digits.
  return found.value->is_integer() ? static_cast<long double>(found.value->integer())
                                   : static_cast<long double>(found.value->number());
}

long double factor(const Word& word, const Documents& documents) {
  if (const std::optional<long double> number = parse_number(word.text)) return *number;
  return number_at(word.text, documents);
}

}  // namespace

std::optional<long double> parse_number(std::string_view text) {
  std::string digits(text);
  digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
  const std::size_t first = digits.find_first_not_of("+-");
  if (first == std::string::npos || digits.find_first_of("0123456789", first) != first) {
    return std::nullopt;  // strtold would also take "inf" and ".5"
  }
  char* end = nullptr;
  const long double value = std::strtold(digits.c_str(), &end);
  for (const Unit& unit : kUnits) {
    if (unit.name == end) return value * unit.factor;
  }
  return std::nullopt;
}

long double evaluate(const std::vector<Word>& words, const Documents& documents) {
  if (words.size() % 2 == 0) {
    throw Error("value", "values and operators must alternate", "put blanks around + - * /");
  }
  long double sum = 0;
  long double sign = 1;
  long double product = factor(words[0], documents);
  for (std::size_t i = 1; i < words.size(); i += 2) {
    const std::string& sign_text = words[i].text;
    const long double next = factor(words[i + 1], documents);
    if (sign_text == "*") {
      product *= next;
    } else if (sign_text == "/") {
      product /= next;
    } else if (sign_text == "+" || sign_text == "-") {
      sum += sign * product;
      sign = sign_text == "+" ? 1 : -1;
      product = next;
    } else {
      throw Error("value", "'" + sign_text + "' is no operator", "use + - * or /");
    }
  }
  return sum + sign * product;
}

}  // namespace fourhold::cases
