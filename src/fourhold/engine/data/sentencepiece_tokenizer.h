// A SentencePiece model: unigram, BPE, word or character, with the model's own normalization.
#pragma once

#include <memory>
#include <string>

#include "fourhold/engine/data/tokenizer.h"

namespace fourhold::engine::data {

// From the bytes of a .model file. A text is encoded whole, so documents have at most
// kMostSentencePieceBytes; prefix() is the model's <s>, if it has one. Error when it is no model.
inline constexpr std::int64_t kMostSentencePieceBytes = 16 << 20;
[[nodiscard]] std::unique_ptr<Tokenizer> make_sentencepiece_tokenizer(const std::string& model,
                                                                      const std::string& where);

}  // namespace fourhold::engine::data
