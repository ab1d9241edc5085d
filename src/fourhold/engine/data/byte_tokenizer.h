// Every byte is a token.
#pragma once

#include <memory>

#include "fourhold/engine/data/tokenizer.h"

namespace fourhold::engine::data {

inline constexpr TokenId kByteEndOfText = 256;
inline constexpr std::int64_t kByteVocabulary = 257;

[[nodiscard]] std::unique_ptr<Tokenizer> make_byte_tokenizer();

}  // namespace fourhold::engine::data
