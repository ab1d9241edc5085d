#include "tests/interpreter/batch.h"

#include "tests/interpreter/counter_random.h"

namespace fourhold::interpreter {
namespace {

constexpr std::int64_t kTokens = 1;  // keys of the generator
constexpr std::int64_t kMasks = 2;

}  // namespace

Batch make_batch(std::int64_t global_batch, std::int64_t seq, std::int64_t vocab) {
  Batch batch;
  batch.seq = seq;
  for (std::int64_t k = 0; k < global_batch; ++k) {
    std::vector<std::int64_t> ids;
    for (std::int64_t t = 0; t <= seq; ++t) {
      const std::uint64_t bits = random_bits({kTokens, k, t});
      ids.push_back(static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(vocab)));
    }
    std::vector<std::int64_t> targets(ids.begin() + 1, ids.end());
    ids.pop_back();
    const double masked = k == 0 ? 0.7 : 0.15;
    for (std::int64_t t = 0; t < seq; ++t) {
      if (random_unit({kMasks, k, t}) < masked) targets[static_cast<std::size_t>(t)] = -1;
      if (targets[static_cast<std::size_t>(t)] >= 0) ++batch.valid;
    }
    batch.tokens.push_back(ids);
    batch.targets.push_back(targets);
  }
  return batch;
}

std::vector<TokenPlace> token_places(const plan::Plan& plan, const plan::Coordinates& at,
                                     std::int64_t micro_batch, model::Region region) {
  std::vector<TokenPlace> places;
  const std::int64_t first = (at.dp * plan.grad_accum + micro_batch) * plan.micro_batch;
  const std::int64_t chunk = plan.cp > 1 ? plan.seq / (2 * plan.cp) : plan.seq;
  for (std::int64_t k = first; k < first + plan.micro_batch; ++k) {
    const auto add_chunk = [&](std::int64_t index) {
      for (std::int64_t t = index * chunk; t < (index + 1) * chunk; ++t) places.push_back({k, t});
    };
    add_chunk(at.cp);
    if (plan.cp > 1) add_chunk(2 * plan.cp - 1 - at.cp);
  }
  if (region == model::Region::inner || !plan.sp) return places;
  const auto share = static_cast<std::ptrdiff_t>(places.size()) / plan.tp;
  return {places.begin() + at.tp * share, places.begin() + (at.tp + 1) * share};
}

}  // namespace fourhold::interpreter
