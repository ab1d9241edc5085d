// A pipeline as its stages differ: which blocks each virtual stage runs, and which stages can hold
// most. It depends on (pp, vpp, recompute) and on nothing a device or a batch decides.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/model/model_config.h"
#include "fourhold/plan/plan.h"
#include "fourhold/plan/profile.h"
#include "fourhold/plan/program.h"
#include "fourhold/search/peak_moments.h"

namespace fourhold::search {

// The first of the stages that run the same blocks in the same chunks. A later one of them starts
// its backwards earlier and has no more in flight, so the first holds most.
struct StageShape {
  std::int64_t stage = 0;
  std::vector<plan::Chunk> chunks;
};

struct PipelineShape {
  std::vector<StageShape> stages;                          // the different ones
  std::vector<std::size_t> shape_of_stage;                 // pp of them: index into `stages`
  std::vector<std::vector<std::int64_t>> instances;        // per different stage and block
  std::vector<std::vector<std::int64_t>> chunk_instances;  // per virtual stage (chunk x pp + stage)
};

[[nodiscard]] PipelineShape pipeline_shape(const model::ModelConfig& config,
                                           const plan::ProgramBlocks& blocks,
                                           const plan::Plan& plan, const plan::Profile& profile);

// For each different stage, the moments of its slots that can hold its peak.
[[nodiscard]] std::vector<PeakMoments> shape_moments(
    const PipelineShape& shape, const plan::ProgramBlocks& blocks,
    const std::vector<const predict::SlotStates*>& slots, const plan::StateMotion& motion,
    plan::GradientLifetime gradient_lifetime);

}  // namespace fourhold::search
