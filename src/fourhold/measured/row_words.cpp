#include "fourhold/measured/row_words.h"

#include "fourhold/base/ascii.h"

namespace fourhold::measured {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool starts_with(std::string_view text, std::string_view part) {
  return text.substr(0, part.size()) == part;
}

std::optional<std::int64_t> number_behind(std::string_view text, std::string_view mark) {
  const std::size_t found = text.find(mark);
  if (found == std::string_view::npos) return std::nullopt;
  constexpr std::size_t kMostDigits = 9;
  std::int64_t value = 0;
  std::size_t digits = 0;
  for (std::size_t i = found + mark.size(); i < text.size() && digits < kMostDigits; ++i) {
    if (!is_digit(text[i])) break;
    value = value * 10 + (text[i] - '0');
    ++digits;
  }
  if (digits == 0) return std::nullopt;
  return value;
}

}  // namespace fourhold::measured
