// How many parameters a run trains, and how many it holds with its adapters.
#pragma once

#include <cstdint>

#include "fourhold/model/model_config.h"
#include "fourhold/model/switches.h"

namespace fourhold::model {

struct TrainableCounts {
  std::int64_t trainable = 0;
  std::int64_t total = 0;     // of the model, its adapters and the copies of modules trained whole
  std::int64_t adapters = 0;  // of those, in adapters
};

// Whole model, before any split; as PEFT's print_trainable_parameters counts. A tied table is one.
[[nodiscard]] TrainableCounts count_trainable(const ModelConfig& config, const Switches& switches);

}  // namespace fourhold::model
