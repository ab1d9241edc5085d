#include "fourhold/measured/nanotron_stages.h"

namespace fourhold::measured {

std::vector<std::int64_t> nanotron_stages(const model::ModelConfig& config, std::int64_t pp) {
  const model::LayerKind& kind = config.kinds.front();
  const std::int64_t layer = config.hidden * (4 * kind.attention.heads * kind.attention.head_dim +
                                              3 * kind.feed_forward.width);
  const std::int64_t total = config.layer_count() * layer + config.vocab * config.hidden;
  std::vector<std::int64_t> stages(static_cast<std::size_t>(pp), 0);
  std::int64_t stage = 0;
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < config.layer_count(); ++i) {
    ++stages[static_cast<std::size_t>(stage)];
    sum += layer;
    // sum >= total (stage + 1) / pp, in whole numbers.
    if (stage + 1 < pp && sum * pp >= total * (stage + 1)) ++stage;
  }
  return stages;
}

}  // namespace fourhold::measured
