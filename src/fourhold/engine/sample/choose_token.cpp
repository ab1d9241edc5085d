#include "fourhold/engine/sample/choose_token.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "fourhold/base/error.h"
#include "fourhold/engine/tensor/counter_random.h"

namespace fourhold::engine {
namespace {

bool is_likelier(const Candidate& a, const Candidate& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.id < b.id;
}

template <typename T>
void read_logits(std::span<const T> logits, std::span<Candidate> to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    const float logit = to_float(logits[i]);
    if (!std::isfinite(logit)) {
      throw Error("model",
                  "its logits are not finite: that of token " + std::to_string(i) + " is " +
                      std::to_string(logit),
                  "its weights are damaged, or too large for bf16: try --precision fp32");
    }
    to[i] = {logit, static_cast<data::TokenId>(i)};
  }
}

// Logits become probabilities relative to the largest.
void exponentiate(std::span<Candidate> candidates, double temperature) {
  const auto least = std::min_element(candidates.begin(), candidates.end(), is_likelier);
  const double largest = static_cast<double>(least->weight);  // the likeliest stands first
  for (Candidate& candidate : candidates) {
    const double behind = static_cast<double>(candidate.weight) - largest;
    candidate.weight = static_cast<float>(std::exp(behind / temperature));
  }
}

double total_of(std::span<const Candidate> candidates) {
  double total = 0;
  for (const Candidate& candidate : candidates) total += static_cast<double>(candidate.weight);
  return total;
}

// The fewest likeliest that have `share` of the weight.
std::span<Candidate> likeliest_share(std::span<Candidate> candidates, double share) {
  const double wanted = share * total_of(candidates);
  // A heap gives them one by one: most often a few of very many.
  const auto is_less_likely = [](const Candidate& a, const Candidate& b) {
    return is_likelier(b, a);
  };
  std::make_heap(candidates.begin(), candidates.end(), is_less_likely);
  double reached = 0;
  auto end = candidates.end();
  while (end != candidates.begin()) {
    std::pop_heap(candidates.begin(), end, is_less_likely);
    --end;
    reached += static_cast<double>(end->weight);
    if (reached >= wanted) break;
  }
  std::reverse(end, candidates.end());
  return {end, candidates.end()};
}

}  // namespace

std::span<Candidate> candidates(const Tensor& logits, std::int64_t known, const ChoiceRule& rule,
                                std::span<Candidate> memory) {
  assert(known >= 1 && known <= logits.elements() &&
         known <= static_cast<std::int64_t>(memory.size()) && "a token exists, and has room");
  std::span<Candidate> kept = memory.first(static_cast<std::size_t>(known));
  if (logits.dtype == DType::bf16) {
    read_logits(logits.as<const Bf16>(), kept);
  } else {
    read_logits(logits.as<const float>(), kept);
  }
  if (rule.temperature == 0) {
    std::nth_element(kept.begin(), kept.begin(), kept.end(), is_likelier);
    kept.front().weight = 1;
    return kept.first(1);
  }
  if (rule.top_k > 0 && rule.top_k < known) {
    const auto end = kept.begin() + rule.top_k;
    std::nth_element(kept.begin(), end - 1, kept.end(), is_likelier);
    std::sort(kept.begin(), end, is_likelier);
    kept = {kept.begin(), end};
  }
  exponentiate(kept, rule.temperature);
  if (rule.top_p < 1) kept = likeliest_share(kept, rule.top_p);
  const double total = total_of(kept);
  for (Candidate& candidate : kept) {
    candidate.weight = static_cast<float>(static_cast<double>(candidate.weight) / total);
  }
  return kept;
}

data::TokenId draw(std::span<const Candidate> candidates, double share) {
  const double wanted = share * total_of(candidates);
  double reached = 0;
  data::TokenId last = candidates.front().id;
  for (const Candidate& candidate : candidates) {
    if (candidate.weight == 0) continue;
    reached += static_cast<double>(candidate.weight);
    last = candidate.id;
    if (wanted < reached) break;
  }
  return last;
}

double share_of_token(std::uint64_t seed, std::int64_t index) {
  const CounterRandom random(seed, "sample");
  const auto first = 2 * static_cast<std::uint64_t>(index);
  const std::uint64_t bits =
      (std::uint64_t{random.uniform32(first)} << 32) | random.uniform32(first + 1);
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace fourhold::engine
