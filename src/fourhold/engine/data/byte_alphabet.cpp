#include "fourhold/engine/data/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "fourhold/base/utf8.h"

namespace fourhold::engine::data {
namespace {

constexpr std::size_t kCodes = 256 + 68;

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

struct Alphabet {
  std::array<std::uint16_t, 256> code_of_byte{};
  std::array<std::int16_t, kCodes> byte_of_code{};  // -1: none
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  for (std::int16_t& byte : alphabet.byte_of_code) byte = -1;
  std::uint16_t next = 256;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const auto code = stands_for_itself(byte) ? static_cast<std::uint16_t>(byte) : next++;
    alphabet.code_of_byte[byte] = code;
    alphabet.byte_of_code[code] = static_cast<std::int16_t>(byte);
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

std::string byte_character(unsigned char byte) {
  const unsigned code = kAlphabet.code_of_byte[byte];
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0U | (code >> 6U)), static_cast<char>(0x80U | (code & 0x3FU))};
}

std::optional<std::string> bytes_of_characters(std::string_view token) {
  std::string bytes;
  for (std::size_t at = 0; at < token.size();) {
    const Utf8Character character = utf8_character_at(token, at);
    if (character.code >= kCodes || kAlphabet.byte_of_code[character.code] < 0) {
      return std::nullopt;
    }
    bytes += static_cast<char>(kAlphabet.byte_of_code[character.code]);
    at += character.bytes;
  }
  return bytes;
}

}  // namespace fourhold::engine::data
