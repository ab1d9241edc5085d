// The tokens of a byte-level BPE: ids by their bytes, bytes by their ids, and the merges.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "fourhold/engine/data/bpe_merges.h"
#include "fourhold/engine/data/token_type.h"
#include "fourhold/engine/data/tokenizer_json.h"

namespace fourhold::engine::data {

// Lets maps of strings be asked with views.
struct StringHash {
  using is_transparent = void;  // NOLINT(readability-identifier-naming): the library's name
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

class BpeVocabulary {
 public:
  // Error with the field's path when ids repeat or merges name tokens that are not there.
  explicit BpeVocabulary(const TokenizerJson& json);

  [[nodiscard]] std::int64_t size() const { return size_; }  // 1 + the largest id
  // -1 where the vocabulary has no token for a byte.
  [[nodiscard]] TokenId byte(unsigned char value) const { return byte_ids_[value]; }
  // Of a token by its bytes; added tokens are asked for by their text.
  [[nodiscard]] std::optional<TokenId> find(std::string_view bytes) const;
  [[nodiscard]] std::optional<TokenId> find_added(std::string_view text) const;
  // nullptr: no token has this id.
  [[nodiscard]] const std::string* bytes(TokenId id) const;
  [[nodiscard]] BpeMerges& merges() { return merges_; }

 private:
  using Ids = std::unordered_map<std::string, TokenId, StringHash, std::equal_to<>>;

  void add_tokens(const TokenizerJson& json, Ids& written);
  void add_added_tokens(const TokenizerJson& json, const Ids& written);
  void add_merges(const TokenizerJson& json, const Ids& written);
  void check_around(const TokenizerJson& json) const;

  Ids ids_;
  Ids added_ids_;
  std::unordered_map<TokenId, std::string> bytes_;
  std::array<TokenId, 256> byte_ids_{};
  BpeMerges merges_;
  std::int64_t size_ = 0;
};

}  // namespace fourhold::engine::data
