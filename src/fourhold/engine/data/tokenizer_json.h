// A published tokenizer.json (huggingface/tokenizers), read as byte-level BPE.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fourhold/engine/data/added_tokens.h"
#include "fourhold/engine/data/pre_tokenizer.h"
#include "fourhold/engine/data/token_type.h"

namespace fourhold::engine::data {

enum class Normalization : std::uint8_t { none, nfc };

struct TokenizerJson {
  std::vector<std::pair<std::string, TokenId>> vocabulary;  // as written, in the byte alphabet
  std::vector<std::pair<std::string, std::string>> merges;  // by rank
  bool ignore_merges = false;                               // a word that is a token stays whole
  std::vector<AddedToken> added;
  Normalization normalization = Normalization::none;
  PreTokenizer pre_tokenizer;
  std::vector<TokenId> prefix;  // what the post-processor puts around one text
  std::vector<TokenId> suffix;
};

// Error with `where` and the field's path for what is malformed, and for every part that would
// change ids and is not supported: nothing is ignored.
[[nodiscard]] TokenizerJson parse_tokenizer_json(std::string_view text, const std::string& where);

}  // namespace fourhold::engine::data
