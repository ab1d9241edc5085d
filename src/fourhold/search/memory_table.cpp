#include "fourhold/search/memory_table.h"

#include <algorithm>
#include <cstddef>

#include "fourhold/plan/communication_buffers.h"
#include "fourhold/predict/stage_model.h"
#include "fourhold/predict/state.h"

namespace fourhold::search {
namespace {

plan::Plan with_storage(const plan::Plan& plan, const Storage& storage) {
  plan::Plan changed = plan;
  changed.zero = storage.zero;
  changed.offload = storage.offload;
  return changed;
}

// What is pinned on the host.
struct StagingBytes {
  std::int64_t fixed = 0;
  std::int64_t grown = 0;  // as many times as large with as many sequences
};

StagingBytes staging_of(const predict::StageModel& stage) {
  StagingBytes staging;
  for (const predict::StageTensor& tensor : stage.input().tensors) {
    if (tensor.place != ledger::Place::host) continue;
    (tensor.grows_with_batch ? staging.grown : staging.fixed) +=
        bytes_of(tensor.elements, tensor.dtype) * tensor.copies;
  }
  return staging;
}

// Whole for the whole step, so that static and optimizer bytes hold them both.
std::int64_t batch_bytes_of(const predict::StageModel& stage) {
  std::int64_t bytes = 0;
  for (const predict::StageTensor& tensor : stage.input().tensors) {
    if (tensor.place != ledger::Place::device) continue;
    const bool sent = tensor.name == plan::kActivationSend || tensor.name == plan::kGradientSend;
    if (sent || tensor.grows_with_batch) {
      bytes += bytes_of(tensor.elements, tensor.dtype) * tensor.copies;
    }
  }
  return bytes;
}

}  // namespace

std::vector<std::vector<StageBase>> stage_bases(const model::ModelConfig& config,
                                                const LoweredBlocks& lowered,
                                                const PipelineShape& shape, const plan::Plan& plan,
                                                const plan::Profile& profile,
                                                const std::vector<Storage>& storages) {
  std::vector<std::vector<StageBase>> bases;
  bases.reserve(storages.size());
  for (const Storage& storage : storages) {
    plan::Plan changed = with_storage(plan, storage);
    changed.grad_accum = changed.pp;  // the base does not depend on the number of micro-batches
    std::vector<StageBase>& row = bases.emplace_back();
    row.reserve(shape.stages.size());
    for (const StageShape& stage : shape.stages) {
      const predict::StageModel model(config, lowered.blocks, lowered.facts.lifetimes, changed,
                                      profile, stage.stage);
      const std::int64_t grown = batch_bytes_of(model);
      const StagingBytes staging = staging_of(model);
      row.push_back({.static_bytes = model.bytes().static_bytes - grown,
                     .optimizer_bytes = model.bytes().optimizer_bytes - grown,
                     .sequence_bytes = grown / changed.micro_batch,
                     .host = model.totals().host_bytes,
                     .host_staging = staging.fixed,
                     .staging_sequence_bytes = staging.grown / changed.micro_batch});
    }
  }
  return bases;
}

std::vector<StorageStates> storage_states(const plan::ProgramBlocks& blocks, const plan::Plan& plan,
                                          const plan::Profile& profile,
                                          const std::vector<Storage>& storages) {
  const predict::TiedCopy tied = predict::tied_copy(plan, blocks);
  std::vector<StorageStates> all;
  all.reserve(storages.size());
  plan::Program program;
  for (const Storage& storage : storages) {
    program.plan = with_storage(plan, storage);
    program.recipe = plan::recipe_of(program.plan, profile);
    program.motion = plan::motion_of(program.plan, program.recipe);
    StorageStates& made = all.emplace_back();
    made.motion = program.motion;
    made.blocks.reserve(blocks.blocks.size());
    for (const plan::ProgramBlock& block : blocks.blocks) {
      made.blocks.push_back(predict::block_state(block, program, tied));
    }
  }
  return all;
}

StorageBlocks storage_blocks(const std::vector<predict::BlockLifetimes>& lifetimes,
                             const StorageStates& states,
                             plan::GradientLifetime gradient_lifetime) {
  StorageBlocks made;
  made.blocks.reserve(lifetimes.size());
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    made.blocks.push_back(
        predict::block_bytes(lifetimes[i], states.blocks[i], states.motion, gradient_lifetime));
    made.waiting_bytes += made.blocks.back().forward_births;
  }
  return made;
}

void sum_alive(const std::vector<PeakMoments>& moments, const StorageBlocks& storage,
               AliveSums& sums) {
  sums.resize(moments.size());
  for (std::size_t stage = 0; stage < moments.size(); ++stage) {
    weigh_alive(moments[stage], storage.blocks, sums[stage]);
  }
}

void weigh_works(const Works& works, const StorageBlocks& storage,
                 std::vector<std::int64_t>& bytes) {
  for (std::size_t i = bytes.size(); i < works.list().size(); ++i) {
    bytes.push_back(
        predict::work_bytes(works.list()[i], storage.blocks, storage.waiting_bytes).bytes);
  }
}

PlanBytes plan_bytes(const std::vector<PeakMoments>& moments, const AliveSums& alive,
                     const std::vector<StageBase>& bases,
                     const std::vector<std::int64_t>& work_bytes, std::int64_t micro_batch) {
  PlanBytes most;
  for (std::size_t stage = 0; stage < moments.size(); ++stage) {
    const StageBase& base = bases[stage];
    const std::vector<std::size_t>& names = moments[stage].names;
    std::int64_t peak = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      peak = std::max(peak, alive[stage][i] + work_bytes[names[i]]);
    }
    const std::int64_t grown = base.sequence_bytes * micro_batch;
    most.live_peak =
        std::max({most.live_peak, base.static_bytes + grown + peak, base.optimizer_bytes + grown});
    most.host = std::max(most.host, base.host);
    most.host_staging =
        std::max(most.host_staging, base.host_staging + base.staging_sequence_bytes * micro_batch);
  }
  return most;
}

}  // namespace fourhold::search
