// What a caching allocator reserves for a run: the blocks of one rank's program asked for and
// released in their order, over the first optimizer steps.
//
// Reserved exceeds allocated for reasons that the order decides: blocks that no later request fits,
// what remains of them, and state that is created between two steps in the middle of blocks that
// activations had left.
#pragma once

#include <array>
#include <cstdint>

#include "fourhold/plan/plan.h"
#include "fourhold/plan/profile.h"
#include "fourhold/predict/caching_allocator.h"
#include "fourhold/predict/expanded_ledger.h"

namespace fourhold::predict {

// From the third step on a run repeats the second: the optimizer's state is there, and each step
// asks for the same blocks in the same order.
inline constexpr std::size_t kReplayedSteps = 3;

struct ReplayRules {
  plan::StateCreation optimizer_state = plan::StateCreation::before_first_step;
  plan::DeferredCollectives deferred_collectives = plan::DeferredCollectives::no;
  plan::GatherBuffers gather_buffers = plan::GatherBuffers::each_time;
  plan::Segments segments = plan::Segments::fixed;
  plan::ShardStreams shard_streams = plan::ShardStreams::compute;
  plan::FreshGradients fresh_gradients = plan::FreshGradients::none;
  plan::UpdatedWeights updated_weights = plan::UpdatedWeights::in_place;
  std::int64_t shards = 1;  // ranks that share the state ZeRO splits
};
[[nodiscard]] ReplayRules replay_rules(const plan::Profile& profile, const plan::Plan& plan);

struct AllocatorReplay {
  std::int64_t allocated_peak_bytes = 0;                           // blocks, rounded as they are
  std::array<std::int64_t, kReplayedSteps> reserved_peak_bytes{};  // up to the end of each step
  bool flushed = false;        // cached segments went back to the device to make room
  bool out_of_memory = false;  // and it was not enough; the steps after have the figures before
};

// Replays the run on a device that gives the allocator `capacity_bytes`.
[[nodiscard]] AllocatorReplay replay_allocator(
    const ExpandedRun& run, const ReplayRules& rules,
    std::int64_t capacity_bytes = CachingAllocator::kUnlimited);

}  // namespace fourhold::predict
