#include "fourhold/search/time_table.h"

#include <cstddef>

#include "fourhold/predict/time.h"

namespace fourhold::search {

std::vector<StorageTraffic> storage_traffic(const model::ModelConfig& config,
                                            const plan::ProgramBlocks& blocks,
                                            const plan::Plan& plan, const plan::Profile& profile,
                                            const hardware::Cluster& cluster,
                                            const std::vector<Storage>& storages) {
  const std::vector<predict::BlockParameters> parameters =
      predict::stage_parameters(config, blocks, plan, profile);
  std::vector<StorageTraffic> all;
  all.reserve(storages.size());
  plan::Plan changed = plan;
  for (const Storage& storage : storages) {
    changed.zero = storage.zero;
    changed.offload = storage.offload;
    StorageTraffic& traffic = all.emplace_back();
    changed.grad_accum = 1;
    traffic.one_micro_batch = predict::stage_traffic(parameters, config, changed, profile, cluster);
    changed.grad_accum = 2;
    traffic.several = predict::stage_traffic(parameters, config, changed, profile, cluster);
  }
  return all;
}

std::int64_t offloaded_bytes(const PipelineShape& shape,
                             const std::vector<predict::BlockLifetimes>& lifetimes) {
  std::int64_t bytes = 0;
  for (const std::vector<std::int64_t>& instances : shape.chunk_instances) {
    for (std::size_t block = 0; block < lifetimes.size(); ++block) {
      bytes += instances[block] * lifetimes[block].offloaded_bytes;
    }
  }
  return bytes;
}

void sum_chunks(const PipelineShape& shape, const std::vector<predict::ChunkSeconds>& blocks,
                std::vector<predict::ChunkSeconds>& chunks) {
  chunks.resize(shape.chunk_instances.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    predict::ChunkSeconds sum;
    const std::vector<std::int64_t>& instances = shape.chunk_instances[i];
    for (std::size_t block = 0; block < blocks.size(); ++block) {
      const auto count = static_cast<double>(instances[block]);
      sum.forward += count * blocks[block].forward;
      sum.backward += count * blocks[block].backward;
    }
    chunks[i] = sum;
  }
}

}  // namespace fourhold::search
