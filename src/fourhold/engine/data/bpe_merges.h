// Byte-pair encoding of one word: the pair of neighbours with the lowest rank is joined, the
// leftmost of equals first, until no pair has a rank (Sennrich, Haddow and Birch, ACL 2016).
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "fourhold/engine/data/token_type.h"

namespace fourhold::engine::data {

class BpeMerges {
 public:
  // Joining left and right makes `joined`; lower ranks go first. False when the pair has a rank.
  bool add(TokenId left, TokenId right, std::int32_t rank, TokenId joined);

  // Joins the symbols of a word in place, in O(n log n). Uses memory of its own: one thread.
  void apply(std::vector<TokenId>& word);

  [[nodiscard]] std::size_t size() const { return merges_.size(); }

 private:
  struct Merge {
    std::int32_t rank = 0;
    TokenId joined = 0;
  };
  struct Symbol {
    TokenId id = 0;  // -1: joined to the symbol before it
    std::int32_t previous = -1;
    std::int32_t next = -1;
  };
  struct Candidate {
    std::int32_t rank = 0;
    std::int32_t left = 0;  // position of the left symbol
  };

  [[nodiscard]] const Merge* find(TokenId left, TokenId right) const;
  void consider(std::int32_t left);

  std::unordered_map<std::uint64_t, Merge> merges_;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> heap_;
};

}  // namespace fourhold::engine::data
