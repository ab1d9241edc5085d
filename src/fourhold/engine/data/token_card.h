// The card beside a token file, `FILE.bin.json`: what `fourhold tokenize` knows and formats cannot
// say.
//
// {"schema": "fourhold.tokens/1", "tokenizer": "bytes", "vocabulary": 257, "end_of_text": 256,
//  "tokens": 12, "documents": 2, "hash": "<XXH3>", "mask_hash": "<XXH3>"}
// `hash` is of the bytes of the tokens, without a header, `mask_hash` of the mask.
// `end_of_text` is null where documents have no such end, `mask_hash` where every token is learned.
//
// The mask, `FILE.bin.mask`: one byte for each token, 1 where the token is learned as a target, 0
// where it is only read (a prompt). Each document is then one example: a sequence of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fourhold/base/json.h"
#include "fourhold/engine/data/token_type.h"

namespace fourhold::engine::data {

struct TokenCard {
  std::string tokenizer;
  std::int64_t vocabulary = 0;
  std::optional<TokenId> end_of_text;
  std::int64_t tokens = 0;
  std::int64_t documents = 0;
  std::string hash;
  std::optional<std::string> mask_hash;
  friend bool operator==(const TokenCard&, const TokenCard&) = default;
};

[[nodiscard]] std::string card_path(const std::string& bin_path);
[[nodiscard]] std::string mask_path(const std::string& bin_path);

[[nodiscard]] json::Value to_json(const TokenCard& card);
// Error naming the field at fault. `where` is the card's path.
[[nodiscard]] TokenCard token_card_from_json(std::string_view text, const std::string& where);

// The card beside a token file; no value where there is none.
[[nodiscard]] std::optional<TokenCard> read_token_card(const std::string& bin_path);

}  // namespace fourhold::engine::data
