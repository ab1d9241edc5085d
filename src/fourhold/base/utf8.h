// Characters of a text that may not be UTF-8: paths and names come from anywhere.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fourhold {

struct Utf8Character {
  static constexpr char32_t kInvalid = 0xFFFFFFFF;
  char32_t code = kInvalid;
  std::size_t bytes = 1;  // 1 where it is invalid: the next byte may begin a character
};

// The character at `at` < text.size(). Invalid: a stray or missing continuation byte, a longer form
// than the shortest, a surrogate, and what is above U+10FFFF (RFC 3629, sec. 3 and 4).
[[nodiscard]] Utf8Character utf8_character_at(std::string_view text, std::size_t at);

// The text with U+FFFD in the place of each invalid byte: valid UTF-8.
[[nodiscard]] std::string valid_utf8(std::string_view text);

}  // namespace fourhold
