#include "fourhold/engine/data/token_file.h"

#include <cassert>
#include <cstring>

#include <fmt/format.h>

#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/data/foreign_data.h"

namespace fourhold::engine::data {
namespace {

constexpr std::string_view kKnownFormats =
    "llm.c (magic 20240520 or 20240801), nanoGPT (uint16 without a header) and Megatron (.bin with "
    ".idx) are read";

std::int32_t int32_at(std::string_view file, std::size_t byte) {
  std::int32_t value = 0;
  std::memcpy(&value, file.data() + byte, sizeof value);
  return value;
}

// The type a magic announces. Both magics read as uint16 tokens begin with ids above 55,000, which
// GPT-2's vocabulary of 50,257 does not have: a nanoGPT file is not mistaken for one.
std::optional<TokenType> llm_c_type(std::string_view file) {
  if (file.size() < sizeof(std::int32_t)) return std::nullopt;
  const std::int32_t magic = int32_at(file, 0);
  if (magic == kLlmCMagicUint16) return TokenType::uint16;
  if (magic == kLlmCMagicUint32) return TokenType::uint32;
  return std::nullopt;
}

TokenLayout llm_c_layout(TokenType type, std::string_view file, const std::string& where) {
  const auto bytes = static_cast<std::int64_t>(file.size());
  if (bytes < kLlmCHeaderBytes) {
    throw Error(where,
                fmt::format("byte {}: ends inside the header, which has {} bytes", bytes,
                            format_count(kLlmCHeaderBytes)),
                "the file is cut short: copy or make it again");
  }
  const std::int32_t version = int32_at(file, 4);
  const std::int32_t expected = type == TokenType::uint16 ? kLlmCVersionUint16 : kLlmCVersionUint32;
  if (version != expected) {
    throw Error(where,
                fmt::format("byte 4: version {} of magic {}; version {} is known", version,
                            int32_at(file, 0), expected),
                "make the file again with llm.c's dev/data scripts, or with fourhold tokenize");
  }
  const std::int32_t count = int32_at(file, 8);
  if (count < 0) {
    throw Error(where, fmt::format("byte 8: a count of {} tokens", count),
                "llm.c files hold at most 2,147,483,647 tokens: split the data over several files");
  }
  check_token_bytes(bytes - kLlmCHeaderBytes, count, type, kLlmCHeaderBytes, where);
  return {TokenFormat::llm_c, type, kLlmCHeaderBytes, count};
}

TokenLayout nanogpt_layout(std::string_view file, const std::string& where) {
  if (const auto foreign = recognise_foreign_data(file)) {
    throw Error(where, "byte 0: " + foreign->what + ", not tokens", foreign->hint);
  }
  const auto bytes = static_cast<std::int64_t>(file.size());
  if (bytes == 0) throw Error(where, "byte 0: is empty", "make it again: it holds no token");
  if (bytes % 2 != 0) {
    if (const auto text = recognise_short_text(file)) {
      throw Error(where, "byte 0: " + text->what + ", not tokens", text->hint);
    }
    throw Error(where,
                fmt::format("byte {}: has {} bytes, which is no whole number of uint16 tokens",
                            bytes - 1, format_count(bytes)),
                std::string("the file is cut short or foreign; ") + std::string(kKnownFormats));
  }
  return {TokenFormat::nanogpt, TokenType::uint16, 0, bytes / 2};
}

}  // namespace

std::string_view to_string(TokenFormat format) {
  switch (format) {
    case TokenFormat::llm_c:
      return "llm.c";
    case TokenFormat::nanogpt:
      return "nanoGPT";
    case TokenFormat::megatron:
      return "Megatron";
    case TokenFormat::memory:
      break;
  }
  return "memory";
}

TokenLayout token_layout(std::string_view file, const std::string& where) {
  const std::optional<TokenType> type = llm_c_type(file);
  return type ? llm_c_layout(*type, file, where) : nanogpt_layout(file, where);
}

TokenLayout token_layout_as(TokenFormat format, std::string_view file, const std::string& where) {
  assert(format == TokenFormat::llm_c || format == TokenFormat::nanogpt);
  if (format == TokenFormat::nanogpt) return nanogpt_layout(file, where);
  if (const std::optional<TokenType> type = llm_c_type(file)) {
    return llm_c_layout(*type, file, where);
  }
  throw Error(where,
              file.size() < 4
                  ? std::string("byte 0: is too short for a header")
                  : fmt::format("byte 0: magic {} is not one of llm.c's", int32_at(file, 0)),
              std::string(kKnownFormats));
}

void check_token_bytes(std::int64_t actual, std::int64_t count, TokenType type,
                       std::int64_t first_byte, const std::string& where) {
  const std::int64_t expected = checked_multiply(count, info(type).bytes);
  if (actual == expected) return;
  const std::string what =
      fmt::format("byte {}: {} tokens of {} take {} bytes, but the file has {} for them",
                  first_byte + (actual < expected ? actual : expected), format_count(count),
                  info(type).name, format_count(expected), format_count(actual));
  if (expected > 0 && (actual == 2 * expected || expected == 2 * actual)) {
    throw Error(
        where, what,
        fmt::format("{} the size: the tokens may have been written with {} bytes each, not "
                    "{} (uint16 and uint32 mixed up)",
                    actual > expected ? "twice" : "half", actual / count, info(type).bytes));
  }
  throw Error(where, what,
              actual < expected ? "the file is cut short: copy or make it again"
                                : "the file has bytes that no token uses: make it again");
}

}  // namespace fourhold::engine::data
