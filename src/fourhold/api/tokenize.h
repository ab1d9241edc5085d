// `fourhold tokenize`: texts to a token file. The engine's program answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/api/option.h"

namespace fourhold::api {

struct TokenizeRequest {
  std::string input;
  std::vector<std::string> also;  // more inputs
  std::string output;
  std::string tokenizer = "bytes";
  std::string format;  // "", "llm.c", "nanogpt", "megatron"
  std::string separator;
  std::string end_of_text;
  std::optional<std::int64_t> most_example_tokens;
};

template <class Visitor>
void visit_options(Visitor&& visit, TokenizeRequest& request) {
  visit(Option{{"input", "a text file, or .jsonl of prompts and answers"},
               OptionGroup::operand,
               ValueKind::file},
        request.input);
  visit(Option{{"output", "the token file to write, ending in .bin", {}, {}},
               OptionGroup::output,
               ValueKind::file,
               "o"},
        request.output);
  visit(Option{{"also", "a further input; may stand several times"},
               OptionGroup::question,
               ValueKind::file},
        request.also);
  visit(Option{{"tokenizer",
                "bytes, a tokenizer.json, a folder that holds one, or a SentencePiece model"},
               OptionGroup::question,
               ValueKind::file},
        request.tokenizer);
  visit(Option{{"format", "llm.c, nanogpt or megatron; llm.c if not given, megatron for .jsonl"},
               OptionGroup::question,
               ValueKind::text},
        request.format);
  visit(Option{{"separator", "text that ends a document, such as <|endoftext|>"},
               OptionGroup::question,
               ValueKind::text},
        request.separator);
  visit(Option{{"end_of_text", "token after each document; the tokenizer's own if not given"},
               OptionGroup::question,
               ValueKind::text},
        request.end_of_text);
  visit(Option{{"most_example_tokens",
                "leaves out longer examples of .jsonl, and says how many",
                {1, std::int64_t{1} << 40}},
               OptionGroup::question,
               ValueKind::number},
        request.most_example_tokens);
}

}  // namespace fourhold::api
