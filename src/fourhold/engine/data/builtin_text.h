// The text that ships with the program, so that a first training run needs no download.
//
// Short stories with questions about them, sums, and lists, all made by a grammar of our own from a
// fixed seed, with integers only: the same bytes on every machine. It is regular enough for a model
// of bytes to learn visibly in a few hundred steps, and not so regular that it is learned at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/engine/data/token_source.h"

namespace fourhold::engine::data {

// What `--data` calls it.
inline constexpr std::string_view kBuiltinName = "builtin";
inline constexpr std::int64_t kBuiltinLeastBytes = 1 << 20;

// Documents of printable ASCII and newlines, at least kBuiltinLeastBytes together.
[[nodiscard]] std::vector<std::string> builtin_documents();

// The same as bytes, kByteEndOfText after each document: for any vocabulary of kByteVocabulary or
// more. Error when the model's is smaller.
[[nodiscard]] TokenSource builtin_tokens(std::int64_t model_vocabulary);

}  // namespace fourhold::engine::data
