// Exact memory of every way to store the state of one split: sums instead of walks.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/plan/plan.h"
#include "fourhold/plan/profile.h"
#include "fourhold/predict/moment_bytes.h"
#include "fourhold/search/lowered.h"
#include "fourhold/search/pipeline_shape.h"

namespace fourhold::search {

// How the state is stored: the inner choices that leave blocks and schedule as they are.
struct Storage {
  int zero = 0;
  plan::Offload offload = plan::Offload::none;
};

// Bytes of the fullest stage.
struct PlanBytes {
  std::int64_t live_peak = 0;
  std::int64_t host = 0;          // state in host memory
  std::int64_t host_staging = 0;  // pinned buffers beside it
};

// One stage under one storage, whatever the micro-batch: what is there before any block works, but
// for buffers that grow with the micro-batch, such as those of what it sends to its neighbours.
struct StageBase {
  std::int64_t static_bytes = 0;
  std::int64_t optimizer_bytes = 0;
  std::int64_t sequence_bytes = 0;  // of those, for one sequence
  std::int64_t host = 0;
  std::int64_t host_staging = 0;
  std::int64_t staging_sequence_bytes = 0;  // beside it, for one sequence
};

// The stages' bases for every storage, [storage][different stage].
[[nodiscard]] std::vector<std::vector<StageBase>> stage_bases(
    const model::ModelConfig& config, const LoweredBlocks& lowered, const PipelineShape& shape,
    const plan::Plan& plan, const plan::Profile& profile, const std::vector<Storage>& storages);

// A block's state under one storage: the same for every micro-batch.
struct StorageStates {
  plan::StateMotion motion;
  std::vector<predict::BlockState> blocks;
};
[[nodiscard]] std::vector<StorageStates> storage_states(const plan::ProgramBlocks& blocks,
                                                        const plan::Plan& plan,
                                                        const plan::Profile& profile,
                                                        const std::vector<Storage>& storages);

// What blocks weigh under one storage.
struct StorageBlocks {
  std::vector<predict::BlockBytes> blocks;
  std::int64_t waiting_bytes = 0;  // forward_births of all blocks
};
[[nodiscard]] StorageBlocks storage_blocks(const std::vector<predict::BlockLifetimes>& lifetimes,
                                           const StorageStates& states,
                                           plan::GradientLifetime gradient_lifetime);

// The most that waits beside each work, [different stage][work]: into `sums`. Where gradients are
// persistent it is the same for every storage.
using AliveSums = std::vector<std::vector<std::int64_t>>;
void sum_alive(const std::vector<PeakMoments>& moments, const StorageBlocks& storage,
               AliveSums& sums);

// predict::work_bytes of the works that are not in `bytes` yet.
void weigh_works(const Works& works, const StorageBlocks& storage,
                 std::vector<std::int64_t>& bytes);

// The fullest stage of a candidate. Equals predict_memory's allocated_bytes and host bytes to the
// byte (property test).
[[nodiscard]] PlanBytes plan_bytes(const std::vector<PeakMoments>& moments, const AliveSums& alive,
                                   const std::vector<StageBase>& bases,
                                   const std::vector<std::int64_t>& work_bytes,
                                   std::int64_t micro_batch);

}  // namespace fourhold::search
