// Walks one stage's schedule over whole blocks and finds where most bytes are alive.
//
// A run of equal layers is one move: what is alive grows or shrinks by the same bytes at each, so
// its extremes lie at its ends. The walk is exact; tests hold it to the expanded program.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/plan/program.h"
#include "fourhold/predict/block_lifetimes.h"
#include "fourhold/predict/state.h"

namespace fourhold::predict {

enum class Moment : std::uint8_t { forward, backward, reduce_block, optimizer };

// What is alive at one moment, in counts of whole instances of each block, and the block at work.
struct PeakPosition {
  std::int64_t bytes = 0;
  Moment moment = Moment::forward;
  std::int16_t block = -1;  // at work, -1 at the optimizer step
  std::int32_t step = 0;    // of the block's direction
  std::int32_t micro_batch = -1;
  std::int32_t layer = -1;                 // global layer at work, -1 outside layers
  bool first_backward = false;             // the block's gradients are only now coming to life
  bool forward_gradients_waiting = false;  // those of a chunked loss, made before this moment
  std::int16_t gathered_next = -1;         // block gathered ahead, -1 none
  std::vector<std::int64_t> kept;          // per block: instances whose kept tensors are all alive
  std::vector<std::int64_t> born;          // per block: instances whose gradients are alive
};

// Most bytes over the steps of one block instance in one direction, and where.
struct DirectionPeak {
  std::int64_t bytes = 0;
  std::int32_t step = 0;
};

// The extremes of a block, with the gradients that come to life in it: before they exist (`first`),
// and when they already do (`later`).
struct BlockPeaks {
  DirectionPeak forward_first, forward_later;
  DirectionPeak backward_first, backward_later;
};

[[nodiscard]] BlockPeaks block_peaks(const BlockLifetimes& life, const BlockState& state,
                                     const plan::StateMotion& motion,
                                     plan::GradientLifetime gradient_lifetime);

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
  const std::vector<BlockPeaks>* peaks = nullptr;          // per block, on this stage
  std::int64_t static_bytes = 0;  // alive during the whole step, persistent gradients included
  std::int64_t optimizer_scratch_bytes = 0;
  plan::GradientLifetime gradient_lifetime = plan::GradientLifetime::persistent;
};

[[nodiscard]] StageWalk walk_stage(const WalkInput& input);

}  // namespace fourhold::predict
