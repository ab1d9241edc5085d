// TransformerEngine's cache of weight-sized gradients: with fused gradient accumulation it hands
// the autograd engine one dummy tensor per distinct weight shape and keeps it.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/plan/program.h"

namespace fourhold::predict {

// Elements of one tensor per distinct GEMM weight of a stage: packed groups (q, k, v; gate and up)
// count as one weight, of grouped experts one expert counts. `instances` per block of the stage.
// Measured: SimuMax's B200 runs of Megatron-Core hold 2 bytes times this sum (data/SOURCES.md).
[[nodiscard]] std::int64_t dummy_gradient_elements(const plan::ProgramBlocks& blocks,
                                                   const std::vector<std::int64_t>& instances);

}  // namespace fourhold::predict
