#include "fourhold/engine/data/token_type.h"

#include <bit>
#include <cstring>

namespace fourhold::engine::data {
namespace {

static_assert(std::endian::native == std::endian::little, "token files are read as they lie");

template <typename Stored>
Stored stored_at(const char* data, std::int64_t index) {
  Stored value{};
  std::memcpy(&value, data + index * static_cast<std::int64_t>(sizeof value), sizeof value);
  return value;
}

// Calls body with a value of the type's C++ type.
template <typename Body>
auto with_stored_type(TokenType type, Body&& body) {
  switch (type) {
    case TokenType::uint8:
      return body(std::uint8_t{});
    case TokenType::int16:
      return body(std::int16_t{});
    case TokenType::uint16:
      return body(std::uint16_t{});
    case TokenType::int32:
      return body(std::int32_t{});
    case TokenType::uint32:
      return body(std::uint32_t{});
    case TokenType::int64:
      break;
  }
  return body(std::int64_t{});
}

}  // namespace

void load_ids(const char* data, TokenType type, std::span<TokenId> ids) {
  with_stored_type(type, [&](auto stored) {
    using Stored = decltype(stored);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ids[i] = static_cast<TokenId>(stored_at<Stored>(data, static_cast<std::int64_t>(i)));
    }
  });
}

std::optional<StoredId> first_outside(const char* data, TokenType type, std::int64_t count,
                                      std::int64_t vocabulary) {
  return with_stored_type(type, [&](auto stored) -> std::optional<StoredId> {
    using Stored = decltype(stored);
    // Negative ids are above every vocabulary when read as unsigned. Blocks without a branch inside
    // let the compiler use vectors; the block at fault is searched again.
    constexpr std::int64_t kBlock = 4096;
    const auto outside = [&](std::int64_t i) {
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(stored_at<Stored>(data, i))) >=
             static_cast<std::uint64_t>(vocabulary);
    };
    for (std::int64_t begin = 0; begin < count; begin += kBlock) {
      const std::int64_t end = begin + kBlock < count ? begin + kBlock : count;
      bool any = false;
      for (std::int64_t i = begin; i < end; ++i) any |= outside(i);
      for (std::int64_t i = begin; any && i < end; ++i) {
        if (outside(i)) return StoredId{i, static_cast<std::int64_t>(stored_at<Stored>(data, i))};
      }
    }
    return std::nullopt;
  });
}

}  // namespace fourhold::engine::data
