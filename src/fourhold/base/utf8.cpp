#include "fourhold/base/utf8.h"

namespace fourhold {
namespace {

// What a first byte announces: how many bytes, and the least code that needs as many.
struct Form {
  std::size_t bytes = 0;
  char32_t code = 0;
  char32_t least = 0;
};

Form form_of(unsigned char first) {
  if (first < 0x80) return {1, first, 0};
  if ((first & 0xE0U) == 0xC0U) return {2, first & 0x1FU, 0x80};
  if ((first & 0xF0U) == 0xE0U) return {3, first & 0x0FU, 0x800};
  if ((first & 0xF8U) == 0xF0U) return {4, first & 0x07U, 0x10000};
  return {};
}

}  // namespace

Utf8Character utf8_character_at(std::string_view text, std::size_t at) {
  const Form form = form_of(static_cast<unsigned char>(text[at]));
  if (form.bytes == 0 || form.bytes > text.size() - at) return {};
  char32_t code = form.code;
  for (std::size_t i = 1; i < form.bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[at + i]);
    if ((byte & 0xC0U) != 0x80U) return {};
    code = (code << 6U) | (byte & 0x3FU);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < form.least || surrogate || code > 0x10FFFF) return {};
  return {code, form.bytes};
}

std::string valid_utf8(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character character = utf8_character_at(text, at);
    const bool valid = character.code != Utf8Character::kInvalid;
    out += valid ? text.substr(at, character.bytes) : kReplacement;
    at += character.bytes;
  }
  return out;
}

}  // namespace fourhold
