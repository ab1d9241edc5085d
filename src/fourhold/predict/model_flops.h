// What a model computes, whatever it is split into.
#pragma once

#include <cstdint>

#include "fourhold/model/model_config.h"

namespace fourhold::predict {

// Model FLOPs of forward and backward for one sequence of `seq` tokens, from the model's own
// operation lists: 6 per parameter a token meets in a product, and 12 a d s per token and layer for
// attention, without causal halving (Narayanan 2021, arXiv 2104.04473, eq. 3 without the recomputed
// forward; Chowdhery 2022, arXiv 2204.02311, appendix B). The head counts, the embedding's lookup
// does not. This is the convention of `mfu` and `tflops_per_device`. Layers of multi-token
// prediction that are trained count with their heads.
[[nodiscard]] double model_flops_per_sequence(const model::ModelConfig& config, std::int64_t seq,
                                              std::int64_t prediction_layers = 0);

}  // namespace fourhold::predict
