#include "fourhold/engine/data/builtin_text.h"

#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/data/builtin_grammar.h"
#include "fourhold/engine/data/byte_tokenizer.h"

namespace fourhold::engine::data {
namespace {

// Changing it, or the grammar, changes every loss that was ever printed for `builtin`.
constexpr std::uint64_t kSeed = 4;

}  // namespace

std::vector<std::string> builtin_documents() {
  GrammarRandom random(kSeed);
  std::vector<std::string> documents;
  for (std::int64_t bytes = 0; bytes < kBuiltinLeastBytes;) {
    documents.push_back(builtin_document(random));
    bytes += static_cast<std::int64_t>(documents.back().size());
  }
  return documents;
}

TokenSource builtin_tokens(std::int64_t model_vocabulary) {
  if (model_vocabulary < kByteVocabulary) {
    throw Error(std::string(kBuiltinName),
                fmt::format("holds bytes and an end of text, {} ids; the model has {}",
                            kByteVocabulary, format_count(model_vocabulary)),
                fmt::format("give a model with a vocabulary of {} or more", kByteVocabulary));
  }
  std::vector<std::uint16_t> tokens;
  std::vector<std::int64_t> starts;
  for (const std::string& document : builtin_documents()) {
    starts.push_back(static_cast<std::int64_t>(tokens.size()));
    for (const char c : document) tokens.push_back(static_cast<unsigned char>(c));
    tokens.push_back(static_cast<std::uint16_t>(kByteEndOfText));
  }
  return {std::move(tokens), std::move(starts), make_byte_tokenizer()->name()};
}

}  // namespace fourhold::engine::data
