#include "fourhold/model/trainable.h"

#include <vector>

#include "fourhold/base/checked.h"
#include "fourhold/model/operations.h"

namespace fourhold::model {
namespace {

void add(TrainableCounts& counts, const BlockOperations& block, std::int64_t times) {
  for (const BlockParameter& use : block.parameters) {
    if (use.of_embedding) continue;
    const std::int64_t elements = checked_multiply(use.parameter.elements(), times);
    counts.total = checked_add(counts.total, elements);
    if (use.trainable) counts.trainable = checked_add(counts.trainable, elements);
    if (use.variant == Variant::lora_a || use.variant == Variant::lora_b) {
      counts.adapters = checked_add(counts.adapters, elements);
    }
  }
}

}  // namespace

TrainableCounts count_trainable(const ModelConfig& config, const Switches& switches) {
  const BatchSizes one{.micro_batch = 1, .seq = 1};
  TrainableCounts counts;
  add(counts, embedding_operations(config, one, switches), 1);
  std::vector<std::int64_t> copies(config.kinds.size(), 0);
  for (const std::int32_t layer : config.layers) ++copies[static_cast<std::size_t>(layer)];
  for (std::size_t kind = 0; kind < config.kinds.size(); ++kind) {
    add(counts, layer_operations(config, static_cast<std::int32_t>(kind), one, switches),
        copies[kind]);
  }
  add(counts, head_operations(config, one, switches), 1);
  return counts;
}

}  // namespace fourhold::model
