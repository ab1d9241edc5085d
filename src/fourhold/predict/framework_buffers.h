// What a framework and its libraries hold beside a model's tensors, in the allocator and so
// allocated: workspaces for products, a batch's mask, buffers that stay, borders of stages.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fourhold/plan/profile.h"
#include "fourhold/plan/program.h"
#include "fourhold/predict/stage_ledger.h"

namespace fourhold::predict {

// cuBLAS's workspaces: a copy for each thread that multiplies, first that of forward.
inline constexpr std::string_view kProductWorkspace = "cublas_workspace";
inline constexpr std::int64_t kForwardThread = 0;

// Adds those of one stage of a train_step program; `instances` per block of the stage. With b
// sequences of s tokens per micro-batch:
//   cublas_workspace   two, of the forward's and the backward's thread
//   engine_workspace   one, and grouped_workspaces more where the stage has experts
//   batch_mask         b s s / cp bytes, on the first and the last stage
//   score_buffer       the largest score tensor of the stage
//   stage_border       what stages exchange for one micro-batch, as many as stay (StageBorders)
void add_framework_buffers(const plan::Profile& profile, const plan::Program& program,
                           const plan::ProgramBlocks& blocks,
                           const std::vector<std::int64_t>& instances,
                           std::vector<StageTensor>& tensors);

}  // namespace fourhold::predict
