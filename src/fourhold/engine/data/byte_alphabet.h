// The alphabet in which byte-level BPE writes its tokens: one visible character for each byte.
//
// Bytes 33 to 126, 161 to 172 and 174 to 255 stand for themselves as code points; the other 68, in
// their order, for U+0100 to U+0143, so a space is U+0120 (github.com/openai/gpt-2,
// src/encoder.py).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fourhold::engine::data {

// The UTF-8 character of a byte.
[[nodiscard]] std::string byte_character(unsigned char byte);

// The bytes a token's characters stand for; no value where one is outside the alphabet.
[[nodiscard]] std::optional<std::string> bytes_of_characters(std::string_view token);

}  // namespace fourhold::engine::data
