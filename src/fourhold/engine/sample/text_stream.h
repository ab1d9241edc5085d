// Tokens to text as they come: characters stay whole, and pieces join as the tokenizer joins them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "fourhold/engine/data/tokenizer.h"

namespace fourhold::engine {

class TextStream {
 public:
  // Goes on after tokens whose text is known. `tokenizer` must outlive this.
  TextStream(const data::Tokenizer& tokenizer, std::span<const data::TokenId> before);

  // What can be shown now: valid UTF-8, nothing while a character is unfinished. Bytes that are no
  // part of a character become U+FFFD. Errors are the tokenizer's.
  [[nodiscard]] std::string add(data::TokenId id);
  // What is left when no more tokens come.
  [[nodiscard]] std::string finish();

 private:
  void shorten();

  const data::Tokenizer& tokenizer_;
  std::vector<data::TokenId> ids_;  // the last ones: what follows depends on what came before
  std::string text_;                // of ids_
  std::size_t shown_ = 0;           // bytes of text_
};

}  // namespace fourhold::engine
