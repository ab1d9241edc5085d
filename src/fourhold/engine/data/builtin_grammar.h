// One document of the built-in text.
#pragma once

#include <cstdint>
#include <string>

namespace fourhold::engine::data {

// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): the standard's distributions differ by library.
class GrammarRandom {
 public:
  explicit GrammarRandom(std::uint64_t seed) : state_(seed) {}
  // 0 to count - 1.
  int below(int count);

 private:
  std::uint64_t state_;
};

// A story with questions, a page of sums, or a list.
[[nodiscard]] std::string builtin_document(GrammarRandom& random);

}  // namespace fourhold::engine::data
