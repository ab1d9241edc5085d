// Every step of one rank's run in order: the program written out.
#pragma once

#include <cstdint>
#include <functional>

#include "fourhold/plan/program.h"

namespace fourhold::plan {

enum class Work : std::uint8_t {
  count_tokens,  // first: valid tokens of the global batch; the sum of the losses starts at zero
  load_ids,      // token ids of a micro-batch
  load_targets,
  receive_activation,  // the chunk's input, from the stage before
  send_activation,
  receive_gradient,  // the gradient of the chunk's output, from the stage after
  send_gradient,
  gather_weights,  // a block's weights become whole (ZeRO-3, offload, fp32-only storage)
  release_weights,
  compute,           // `step` of the block
  reduce_gradients,  // a block's gradient goes to its owners (ZeRO-2/3, offload)
  end_micro_batch,   // a chunk's forward or backward is over
  // Once per step (micro_batch is kNone):
  reduce_loss,  // after the last micro-batch: the sum over all ranks, logged with the count
  // Of these, each but gradient_norm and clip once per block instance:
  sum_replicas,  // partial gradients of replicated parameters, over tp or kv replicas
  sum_tied,      // the embedding's gradient on the first and the last stage
  reduce_all,    // all-reduce or reduce-scatter of gradients over dp x cp (ZeRO-0/1)
  gradient_norm,
  clip,
  optimize,
  gather_updated,  // updated weights, from their owners to all (ZeRO-1/2)
  // Of the programs that start and save, per `parameter` of a block instance:
  fill_weight,  // made or read piece by piece, cast into the weight and into the master copy
  zero_state,   // its moments, and its gradient where that lasts for the whole run
  write_state,  // weight, master copy and moments that this rank owns, piece by piece
  // Of the program that samples:
  choose_token,  // the next token, from the logits of the last one
};

// One piece of work at one place of the run.
struct StepInstance {
  static constexpr std::int32_t kNone = -1;
  Work work = Work::compute;
  Direction direction = Direction::forward;
  std::int16_t block = -1;  // index into ProgramBlocks::blocks
  std::int32_t chunk = kNone;
  std::int32_t layer = kNone;  // global layer, kNone for embedding and head
  std::int32_t micro_batch = kNone;
  const Step* step = nullptr;   // compute only
  std::int16_t parameter = -1;  // fill_weight, zero_state and write_state only
};

// Calls `visit` for every step in order. Pointers stay valid while `blocks` lives.
void expand(const Program& program, const ProgramBlocks& blocks,
            const std::function<void(const StepInstance&)>& visit);

// A block at its place in a chunk: the blocks of a chunk in forward order.
struct BlockInstance {
  std::int16_t block = -1;
  std::int32_t layer = StepInstance::kNone;
};
[[nodiscard]] std::vector<BlockInstance> block_instances(const Chunk& chunk,
                                                         const ProgramBlocks& blocks);

}  // namespace fourhold::plan
