// `fourhold tokenize`: texts to a token file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/engine/data/token_card.h"
#include "fourhold/engine/data/token_file.h"
#include "fourhold/engine/data/tokenizer.h"

namespace fourhold::engine::data {

struct TokenizeRequest {
  std::vector<std::string> inputs;  // text files, or JSONL files of prompts and answers, not both
  std::string output;               // ends in .bin
  std::optional<TokenFormat> format =
      std::nullopt;  // unset: llm.c, and Megatron for prompts and answers
  // Ends a document wherever it stands in a text file, and is left out; unset: a file is a
  // document.
  std::optional<std::string> separator = std::nullopt;
  // The token after each document, by its text; unset: the tokenizer's own.
  std::optional<std::string> end_of_text = std::nullopt;
  // Examples with more tokens are left out and counted; unset: none.
  std::optional<std::int64_t> most_example_tokens = std::nullopt;
};

struct TokenizeProgress {
  std::int64_t bytes_done = 0;  // of the inputs
  std::int64_t bytes_total = 0;
  std::int64_t tokens = 0;
};
// Called often; may throw to stop, and then no file is left. Empty: shows nothing.
using ShowTokenizeProgress = std::function<void(const TokenizeProgress&)>;

struct TokenizeResult {
  TokenCard card;
  TokenFormat format = TokenFormat::llm_c;
  TokenType type = TokenType::uint16;
  std::int64_t text_bytes = 0;         // of texts; of the prompts and answers that are written
  std::int64_t learned_tokens = 0;     // all but those of prompts
  std::int64_t unknown_tokens = 0;     // text the tokenizer has no token for
  std::int64_t examples_left_out = 0;  // longer than most_example_tokens
  std::vector<std::string> notes;      // what was found in the inputs and not used, as sentences
};

// Each document is the tokenizer's prefix, its text, the tokenizer's suffix and the end of the text
// (once, if the suffix ends in it). An example is one document whose prompt, with the prefix, is
// not learned; prompt and answer are encoded apart, so that no token holds bytes of both. Writes
// `output`, its card and, by format, its index and mask; Error names the file and the byte or line,
// and leaves nothing under the final names.
TokenizeResult tokenize(const TokenizeRequest& request, Tokenizer& tokenizer,
                        const ShowTokenizeProgress& show = {});

}  // namespace fourhold::engine::data
