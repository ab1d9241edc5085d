// A sequence of token ids to train on: a token file mapped into memory, or tokens of our own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/engine/data/megatron_index.h"
#include "fourhold/engine/data/token_card.h"
#include "fourhold/engine/data/token_file.h"
#include "fourhold/engine/data/token_type.h"
#include "fourhold/engine/files/mapped_file.h"

namespace fourhold::engine::data {

struct OpenTokens {
  // Ids the model has rows for: every token must be below it.
  std::int64_t model_vocabulary = 0;
  // Of the tokenizer that made the file, where neither the file nor its card says so. It is asked
  // for when the model's ids do not all fit in the file's type, since larger ids would have
  // wrapped.
  std::optional<std::int64_t> tokenizer_vocabulary = std::nullopt;
  std::optional<TokenFormat> format = std::nullopt;  // unset: recognised
};

class TokenSource {
 public:
  // Tokens in memory; documents begin at the given tokens, the first at 0 (none: not known).
  TokenSource(std::vector<std::uint16_t> tokens, std::vector<std::int64_t> document_starts,
              std::string tokenizer = {});

  [[nodiscard]] std::int64_t count() const { return layout_.count; }
  [[nodiscard]] TokenFormat format() const { return layout_.format; }
  [[nodiscard]] TokenType type() const { return layout_.type; }
  // "Megatron, uint16, 1,234 tokens in 5 documents".
  [[nodiscard]] std::string description() const;
  // The tokenizer that made them, by its name; empty where nothing says so.
  [[nodiscard]] const std::string& tokenizer() const { return tokenizer_; }

  // 0 where the format does not say where documents begin.
  [[nodiscard]] std::int64_t documents() const;
  // The first token of a document; document_start(documents()) is count().
  [[nodiscard]] std::int64_t document_start(std::int64_t document) const;

  // What a run knows its data by: the XXH3 of the tokens' bytes, joined with '+' by those of mask
  // and index where some tokens are not learned. Reads all of them, unless a card has told the
  // hash.
  [[nodiscard]] std::string fingerprint() const;

  // Tokens first to first + ids.size() - 1, which must be there.
  void read(std::int64_t first, std::span<TokenId> ids) const;

  // Whether some tokens are read but not learned; each document is then one example.
  [[nodiscard]] bool has_mask() const { return mask_.has_value(); }
  [[nodiscard]] bool learned(std::int64_t token) const {
    return !mask_ || mask_->text()[static_cast<std::size_t>(token)] != 0;
  }

 private:
  friend TokenSource open_tokens(const std::string& path, const OpenTokens& options);
  TokenSource(MappedFile file, const TokenLayout& layout);

  TokenLayout layout_;
  std::string tokenizer_;
  std::optional<MappedFile> file_;
  std::optional<MappedFile> index_file_;
  std::optional<MegatronIndex> index_;
  std::optional<MappedFile> mask_;
  std::vector<std::uint16_t> tokens_;
  std::vector<std::int64_t> document_starts_;
  const char* data_ = nullptr;       // of the first token
  std::optional<std::string> hash_;  // of the tokens' bytes, as the card says and was checked
};

// Opens an llm.c or nanoGPT .bin, or a Megatron data set by the name of its .bin, its .idx or both
// without extension. The whole file is read once: Error with byte offset and reason when a header,
// a size, an id, the mask or the hash of its card is wrong.
[[nodiscard]] TokenSource open_tokens(const std::string& path, const OpenTokens& options);

}  // namespace fourhold::engine::data
