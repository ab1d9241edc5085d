// Token ids, and how files store them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace fourhold::engine::data {

// What models and batches work with. -1 as a target means: this position is not learned.
using TokenId = std::int32_t;
inline constexpr TokenId kIgnoredTarget = -1;

enum class TokenType : std::uint8_t { uint8, int16, uint16, int32, uint32, int64 };

struct TokenTypeInfo {
  std::string_view name;
  int bytes = 0;
  std::int64_t largest_vocabulary = 0;  // ids 0 to this - 1 can be stored, and be TokenIds
};

// In the order of the enum.
inline constexpr std::array<TokenTypeInfo, 6> kTokenTypes{{{"uint8", 1, std::int64_t{1} << 8},
                                                           {"int16", 2, std::int64_t{1} << 15},
                                                           {"uint16", 2, std::int64_t{1} << 16},
                                                           {"int32", 4, std::int64_t{1} << 31},
                                                           {"uint32", 4, std::int64_t{1} << 31},
                                                           {"int64", 8, std::int64_t{1} << 31}}};

[[nodiscard]] constexpr const TokenTypeInfo& info(TokenType type) {
  return kTokenTypes[static_cast<std::size_t>(type)];
}

// uint16 up to a vocabulary of 65,536, else uint32: the two that llm.c writes.
[[nodiscard]] constexpr TokenType smallest_type(std::int64_t vocabulary) {
  return vocabulary <= info(TokenType::uint16).largest_vocabulary ? TokenType::uint16
                                                                  : TokenType::uint32;
}

// Widens the little-endian tokens at `data`, of any alignment, into `ids`. They must be TokenIds.
void load_ids(const char* data, TokenType type, std::span<TokenId> ids);

struct StoredId {
  std::int64_t index = 0;
  std::int64_t value = 0;  // of uint32 and int64 as they are stored
};

// The first of `count` tokens outside [0, vocabulary).
[[nodiscard]] std::optional<StoredId> first_outside(const char* data, TokenType type,
                                                    std::int64_t count, std::int64_t vocabulary);

}  // namespace fourhold::engine::data
