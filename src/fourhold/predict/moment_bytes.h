// How many bytes one stage has alive at a moment of its walk.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/predict/block_lifetimes.h"
#include "fourhold/predict/stage_moments.h"
#include "fourhold/predict/state.h"

namespace fourhold::predict {

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

// What one instance of a block weighs in a moment's sum.
struct BlockBytes {
  std::int64_t kept_bytes = 0;      // from forward to backward
  std::int64_t gathered_bytes = 0;  // whole weights, 0 where they are not gathered
  // Device accumulators that its backward brings to life, where they are not persistent.
  std::int64_t backward_births = 0;
  // Gradients its forward makes (the chunked loss): whole ones where blocks are reduced, else the
  // accumulators themselves.
  std::int64_t forward_births = 0;
  std::int64_t reduce_bytes = 0;         // at reduce_block: the gradients handed on and reduced
  std::int64_t reduce_accumulators = 0;  // beside them at a first backward
  BlockPeaks peaks;
};

struct StageBytes {
  std::int64_t static_bytes = 0;  // alive beside every block at work, persistent gradients included
  std::int64_t optimizer_bytes = 0;  // alive at the optimizer step
  std::int64_t waiting_bytes = 0;    // forward_births of all blocks
  std::vector<BlockBytes> blocks;
};

[[nodiscard]] BlockBytes block_bytes(const BlockLifetimes& life, const BlockState& state,
                                     const plan::StateMotion& motion,
                                     plan::GradientLifetime gradient_lifetime);

// The whole sum, and its two parts beside static_bytes: what waits, and the block at work with
// what is gathered and made around it (not for the optimizer step).
[[nodiscard]] DirectionPeak moment_bytes(const StageMoment& moment, const AliveCounts& alive,
                                         const StageBytes& stage);
[[nodiscard]] std::int64_t alive_bytes(const AliveCounts& alive,
                                       const std::vector<BlockBytes>& blocks);
[[nodiscard]] DirectionPeak work_bytes(const StageMoment& moment,
                                       const std::vector<BlockBytes>& blocks,
                                       std::int64_t waiting_bytes);

}  // namespace fourhold::predict
