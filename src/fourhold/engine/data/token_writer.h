// Writes token files in the formats that are read here, complete or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/engine/data/content_hash.h"
#include "fourhold/engine/data/staged_file.h"
#include "fourhold/engine/data/token_card.h"
#include "fourhold/engine/data/token_file.h"
#include "fourhold/engine/data/token_type.h"

namespace fourhold::engine::data {

// The type in which a format stores ids of a vocabulary. Error when it has none that is wide enough
// (nanoGPT above 65,536). Megatron has no uint32: int32 holds every TokenId.
[[nodiscard]] TokenType stored_type(TokenFormat format, std::int64_t vocabulary);

enum class Masked : std::uint8_t { no, yes };

class TokenWriter {
 public:
  // `bin_path` ends in .bin. A mask needs the Megatron format, which keeps documents apart. Error
  // when a file of that name is there, or cannot be made.
  TokenWriter(const std::string& bin_path, TokenFormat format, std::int64_t vocabulary,
              Masked masked);

  // More tokens of the current document; whether they are learned is only kept with a mask.
  void add(std::span<const TokenId> ids, bool learned = true);
  void end_document();

  [[nodiscard]] std::int64_t tokens() const { return tokens_; }
  [[nodiscard]] std::int64_t documents() const { return static_cast<std::int64_t>(lengths_); }

  // Writes header, index, mask and card, and gives all files their names, the .bin last: until it
  // is there, nothing is. The card's counts and hashes are filled in here.
  TokenCard finish(TokenCard card);

 private:
  void store(std::span<const TokenId> ids);
  void write_header();
  void write_index();

  TokenFormat format_;
  TokenType type_;
  StagedFile bin_;
  std::optional<StagedFile> index_;
  std::optional<StagedFile> mask_;
  ContentHash hash_;
  ContentHash mask_hash_;
  std::string stored_;                         // the last tokens, as the file holds them
  std::vector<std::int32_t> document_tokens_;  // of Megatron documents
  std::int64_t document_begin_ = 0;
  std::int64_t tokens_ = 0;
  std::int64_t lengths_ = 0;
};

}  // namespace fourhold::engine::data
