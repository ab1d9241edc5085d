// The messages of ZeRO-3 as FSDP2 allocates them, noted while a program is expanded.
//
// pytorch/pytorch, torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py and
// _fsdp_param_group.py: a block's weights arrive in one flat piece, allocated on the stream that
// gathers, and are copied out when the block begins. In forward the piece stays until the next
// block's copies are made, in backward it goes at once. Gradients are copied into one flat piece in
// the type they are reduced in, which stays until the next block's reduction; what that leaves is
// allocated on its stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "fourhold/ledger/ledger.h"
#include "fourhold/plan/expand.h"
#include "fourhold/plan/plan.h"
#include "fourhold/plan/profile.h"
#include "fourhold/predict/replay_extras.h"

namespace fourhold::predict {

class ShardMessageNotes {
 public:
  ShardMessageNotes(const plan::ProgramBlocks& blocks, const plan::Plan& plan,
                    const plan::Profile& profile)
      : blocks_(blocks),
        whole_(plan.pp == 1 ? profile.whole_weights : plan::WholeWeights::head),
        gradient_wire_bytes_(profile.time.gradient_wire_bytes) {}

  // Of one instance of a block at step `now`: its weights are gathered into these entries; it
  // begins; they are released; its gradients are reduced.
  void gather(const plan::StepInstance& at, const std::vector<std::int32_t>& entries,
              std::int64_t bytes, std::int64_t now);
  void begin(const plan::StepInstance& at, std::int64_t now);
  void release(const plan::StepInstance& at, std::int64_t now);
  void reduce(const plan::StepInstance& at, std::int64_t now);
  void gradient(std::int32_t entry) { messages_.gradients.push_back(entry); }
  void end_micro_batch(std::int64_t now);

  [[nodiscard]] ShardMessages take();

 private:
  using Place = std::pair<std::int16_t, std::int32_t>;  // block, layer
  // A block between its gathering and its release.
  struct Gathered {
    std::size_t first_weight = 0;  // of messages_.weights
    std::size_t weights = 0;
    std::ptrdiff_t message = kNone;  // of messages_.gathers, while it waits for its copies
    bool copied = false;
  };
  static constexpr std::ptrdiff_t kNone = -1;

  [[nodiscard]] bool is(const plan::StepInstance& at, model::Block block) const {
    return blocks_.blocks[static_cast<std::size_t>(at.block)].sharded.operations.block == block;
  }
  [[nodiscard]] bool stays(const plan::StepInstance& at) const;
  void end(std::ptrdiff_t& message, std::int64_t last_step);

  const plan::ProgramBlocks& blocks_;
  plan::WholeWeights whole_;  // of one stage alone: there each backward follows its forward
  std::int64_t gradient_wire_bytes_;
  ShardMessages messages_;
  std::map<Place, Gathered> gathered_;
  std::ptrdiff_t held_ = kNone;   // forward: the message of the block at work
  std::ptrdiff_t first_ = kNone;  // the embedding's, which the head's joins
  std::int64_t embedding_begins_ = -1;
  bool reducing_ = false;
};

}  // namespace fourhold::predict
