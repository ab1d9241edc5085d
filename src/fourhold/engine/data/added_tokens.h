// The tokens of a tokenizer.json that are looked for in a text before it is cut into words.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/engine/data/token_type.h"

namespace fourhold::engine::data {

struct AddedToken {
  TokenId id = 0;
  std::string content;
  bool special = false;     // a mark ("<|endoftext|>"), not text
  bool normalized = false;  // looked for in the normalized text, not in the given one
};

// Finds added tokens: the leftmost first, the longest of those that begin there.
class AddedTokens {
 public:
  void add(std::string content, TokenId id);

  struct Found {
    std::size_t begin = 0;
    std::size_t end = 0;
    TokenId id = 0;
  };
  [[nodiscard]] std::optional<Found> find(std::string_view text, std::size_t from) const;

 private:
  struct Entry {
    std::string content;
    TokenId id = 0;
  };
  std::array<std::vector<Entry>, 256> by_first_byte_;  // longest first
};

}  // namespace fourhold::engine::data
