// Token files without an index: where their tokens lie and of what type they are.
//
// llm.c: 256 little-endian int32 (magic, version, number of tokens, zeros), then the tokens; magic
//   20240520 version 1 stores uint16, magic 20240801 version 7 uint32 (github.com/karpathy/llm.c,
//   dev/data/data_common.py).
// nanoGPT: uint16 tokens and nothing else (github.com/karpathy/nanoGPT,
// data/openwebtext/prepare.py).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fourhold/engine/data/token_type.h"

namespace fourhold::engine::data {

inline constexpr std::int64_t kLlmCHeaderBytes = 1024;
inline constexpr std::int32_t kLlmCMagicUint16 = 20240520;
inline constexpr std::int32_t kLlmCMagicUint32 = 20240801;
inline constexpr std::int32_t kLlmCVersionUint16 = 1;
inline constexpr std::int32_t kLlmCVersionUint32 = 7;

enum class TokenFormat : std::uint8_t { llm_c, nanogpt, megatron, memory };
[[nodiscard]] std::string_view to_string(TokenFormat format);

struct TokenLayout {
  TokenFormat format = TokenFormat::nanogpt;
  TokenType type = TokenType::uint16;
  std::int64_t first_byte = 0;  // of the tokens
  std::int64_t count = 0;       // tokens
};

// The layout of a whole file. Recognised by its magic; without one it is nanoGPT's, unless its
// bytes say that it is something else (text, an archive, a model ...). Error with the byte's offset
// when the header, the file's size or its kind is wrong. `where` names the file in Errors.
[[nodiscard]] TokenLayout token_layout(std::string_view file, const std::string& where);

// The same for a file that is said to be of one format (llm_c or nanogpt).
[[nodiscard]] TokenLayout token_layout_as(TokenFormat format, std::string_view file,
                                          const std::string& where);

// Error when `actual` bytes are not what `count` tokens of `type` take: names both sizes, and the
// type that would fit when the size is off by a whole factor. `actual` begins at `first_byte`.
void check_token_bytes(std::int64_t actual, std::int64_t count, TokenType type,
                       std::int64_t first_byte, const std::string& where);

}  // namespace fourhold::engine::data
