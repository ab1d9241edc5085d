// Letters of ASCII, whatever the locale: std::tolower and its kind ask the locale.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fourhold {

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
[[nodiscard]] constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || is_capital(c); }

// In lower case; what is no capital letter stays.
[[nodiscard]] constexpr char lowered(char c) {
  return is_capital(c) ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] inline std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lowered(c);
  return out;
}

// Without the spaces at either end.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace fourhold
