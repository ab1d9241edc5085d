// From logits to the next token: temperature, the k likeliest, the likeliest that make up a share,
// and a draw.
#pragma once

#include <cstdint>
#include <span>

#include "fourhold/engine/data/token_type.h"
#include "fourhold/engine/tensor/tensor.h"

namespace fourhold::engine {

struct ChoiceRule {
  double temperature = 1;  // logits are divided by it; 0: the likeliest token, always
  std::int64_t top_k = 0;  // only so many of the likeliest; 0: all
  // Of those, the fewest likeliest that together have this share of the probability (A. Holtzman
  // et al., arXiv 1904.09751, sec. 3.1); 1: all.
  double top_p = 1;
  std::uint64_t seed = 0;
};

// One element of plan::kCandidatesType: a token and its probability.
struct Candidate {
  float weight = 0;
  data::TokenId id = 0;
};
static_assert(sizeof(Candidate) == 8);

// The tokens that may come next, with probabilities that add up to 1; the likeliest first, of equal
// ones the lower id, where any were left out; else by id. `logits` are one row, fp32 or bf16, of
// which the first `known` are of tokens that exist; they use the first part of `memory`, which has
// room for as many. Throws Error where a logit is not finite.
[[nodiscard]] std::span<Candidate> candidates(const Tensor& logits, std::int64_t known,
                                              const ChoiceRule& rule, std::span<Candidate> memory);

// The candidate at `share`, in [0, 1), of the probability.
[[nodiscard]] data::TokenId draw(std::span<const Candidate> candidates, double share);

// The share that a run's token number `index` draws: of the seed and the number alone.
[[nodiscard]] double share_of_token(std::uint64_t seed, std::int64_t index);

}  // namespace fourhold::engine
