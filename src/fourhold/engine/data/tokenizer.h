// Texts to token ids and back.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/engine/data/token_type.h"

namespace fourhold::engine::data {

// Takes the next ids of a text; long texts arrive in several pieces. May throw to stop.
using TokenSink = std::function<void(std::span<const TokenId> ids)>;

class Tokenizer {
 public:
  Tokenizer() = default;
  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // The ids of a text, without the ones of prefix(). Error at text it has no tokens for, with the
  // byte's offset. May fill a cache: one thread at a time.
  virtual void encode(std::string_view text, const TokenSink& sink) = 0;
  [[nodiscard]] std::vector<TokenId> encode(std::string_view text);

  // The bytes of ids; not valid UTF-8 where ids end inside a character. Error for an unknown id.
  [[nodiscard]] virtual std::string decode(std::span<const TokenId> ids) const = 0;

  // 1 + the largest id: the rows a model needs.
  [[nodiscard]] virtual std::int64_t vocabulary_size() const = 0;
  [[nodiscard]] virtual std::string name() const = 0;

  // What the published tokenizer puts before and after a text ("<|begin_of_text|>").
  [[nodiscard]] virtual std::vector<TokenId> prefix() const { return {}; }
  [[nodiscard]] virtual std::vector<TokenId> suffix() const { return {}; }
  // The token that ends a document; no value where the tokenizer does not say.
  [[nodiscard]] virtual std::optional<TokenId> end_of_text() const = 0;
  // The id of a token by its text ("<|endoftext|>").
  [[nodiscard]] virtual std::optional<TokenId> id_of(std::string_view token) const = 0;
  // The id for what is not in the vocabulary, if such text is accepted at all.
  [[nodiscard]] virtual std::optional<TokenId> unknown() const { return std::nullopt; }
};

// "bytes" (ids 0 to 255 and 256 for the end of a text), a published tokenizer.json (byte-level
// BPE), a folder that holds one, or a SentencePiece .model file. Error naming what cannot be done
// exactly.
[[nodiscard]] std::unique_ptr<Tokenizer> open_tokenizer(const std::string& name);

}  // namespace fourhold::engine::data
