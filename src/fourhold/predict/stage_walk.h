// Walks one stage's schedule over whole blocks and finds where most bytes are alive. The walk is
// exact; tests hold it to the expanded program.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/plan/program.h"
#include "fourhold/predict/block_lifetimes.h"
#include "fourhold/predict/moment_bytes.h"
#include "fourhold/predict/stage_moments.h"
#include "fourhold/predict/state.h"

namespace fourhold::predict {

// The fullest moment: what is alive, the block at work and the step of its direction.
struct PeakPosition : StageMoment, AliveCounts {
  std::int64_t bytes = -1;
  std::int32_t step = 0;
};

struct StageWalk {
  PeakPosition peak;
  std::int64_t in_flight = 0;           // most micro-batch equivalents of kept layers: chunks
  std::vector<std::int64_t> most_kept;  // per block: most instances alive at any moment
};

struct WalkInput {
  const plan::Program* program = nullptr;
  const plan::ProgramBlocks* blocks = nullptr;
  const std::vector<BlockLifetimes>* lifetimes = nullptr;  // per block
  const std::vector<BlockState>* states = nullptr;         // per block, on this stage
  const StageBytes* bytes = nullptr;
  plan::GradientLifetime gradient_lifetime = plan::GradientLifetime::persistent;
};

[[nodiscard]] StageWalk walk_stage(const WalkInput& input);

}  // namespace fourhold::predict
