// How Aleph Alpha's framework splits a model over pipeline stages.
#pragma once

#include <cstdint>
#include <vector>

namespace fourhold::measured {

// Layers of each stage, for 1 <= pp <= layers + 3. What is split evenly is a list of modules: the
// embedding, every layer, the last norm, the head; what does not divide goes to the first stages,
// one module each (Aleph-Alpha/scaling, core/nn/parallel_module/pipeline_partitioning.py,
// pipe_partition_uniform, the default; transformer/model/model.py, get_transformer_layer_specs).
// A stage of the ends may hold no layer.
[[nodiscard]] std::vector<std::int64_t> aleph_stages(std::int64_t layers, std::int64_t pp);

}  // namespace fourhold::measured
