// Every tensor of a run that generates text, found by walking its passes (tensor_slots.h does the
// same for training).
#pragma once

#include <vector>

#include "fourhold/engine/executor/tensor_slots.h"
#include "fourhold/plan/lower_sample.h"

namespace fourhold::engine {

struct SampleSlots {
  std::vector<TensorSlot> slots;  // weights and caches are state
  // Steps of each pass; of compute, `accesses` and `parameters`; of choose_token, the logits and
  // the candidates in `inputs`.
  std::vector<std::vector<WalkedStep>> passes;
  std::vector<TrainedParameter> parameters;  // in the order of blocks, each storage once
};

// `passes` must outlive the result. `vocab`: tokens to choose from.
[[nodiscard]] SampleSlots walk_sample(const std::vector<plan::SamplePass>& passes,
                                      std::int64_t vocab);

}  // namespace fourhold::engine
