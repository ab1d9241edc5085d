// Time of every way to store the state of one split: what does not depend on the micro-batch.
#pragma once

#include <array>
#include <vector>

#include "fourhold/hardware/cluster.h"
#include "fourhold/predict/step_seconds.h"
#include "fourhold/search/lowered.h"
#include "fourhold/search/memory_table.h"
#include "fourhold/search/pipeline_shape.h"

namespace fourhold::search {

// Per stage of the pipeline; gradients are accumulated only where there are several micro-batches.
struct StorageTraffic {
  std::vector<predict::StateTraffic> one_micro_batch;
  std::vector<predict::StateTraffic> several;
};

// One per storage.
[[nodiscard]] std::vector<StorageTraffic> storage_traffic(const model::ModelConfig& config,
                                                          const plan::ProgramBlocks& blocks,
                                                          const plan::Plan& plan,
                                                          const plan::Profile& profile,
                                                          const hardware::Cluster& cluster,
                                                          const std::vector<Storage>& storages);

// Of one micro-batch, in host memory from forward to backward: of all chunks.
[[nodiscard]] std::int64_t offloaded_bytes(const PipelineShape& shape,
                                           const std::vector<predict::BlockLifetimes>& lifetimes);

// Each virtual stage's own seconds for one micro-batch, into `chunks`.
void sum_chunks(const PipelineShape& shape, const std::vector<predict::ChunkSeconds>& blocks,
                std::vector<predict::ChunkSeconds>& chunks);

}  // namespace fourhold::search
