// How nanotron shares layers among pipeline stages: by cost.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/model/model_config.h"

namespace fourhold::measured {

// Layers of each stage (huggingface/nanotron, src/nanotron/parallel/pipeline_parallel and
// models/llama.py, get_block_compute_costs): a layer costs 4 a d h + 3 h f, the head V h, the
// embedding nothing; blocks go to a stage until their sum passes its share. A stage may hold no
// layer.
[[nodiscard]] std::vector<std::int64_t> nanotron_stages(const model::ModelConfig& config,
                                                        std::int64_t pp);

}  // namespace fourhold::measured
