#include "fourhold/search/pipeline_shape.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "fourhold/plan/expand.h"

namespace fourhold::search {
namespace {

bool same_chunk(const plan::Chunk& a, const plan::Chunk& b) {
  return a.embedding == b.embedding && a.head == b.head && a.layer_blocks == b.layer_blocks;
}

bool same_stage(const std::vector<plan::Chunk>& a, const std::vector<plan::Chunk>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_chunk);
}

std::vector<std::int64_t> instances_of(const plan::Chunk& chunk,
                                       const plan::ProgramBlocks& blocks) {
  std::vector<std::int64_t> counts(blocks.blocks.size(), 0);
  for (const plan::BlockInstance& at : plan::block_instances(chunk, blocks)) {
    ++counts[static_cast<std::size_t>(at.block)];
  }
  return counts;
}

}  // namespace

PipelineShape pipeline_shape(const model::ModelConfig& config, const plan::ProgramBlocks& blocks,
                             const plan::Plan& plan, const plan::Profile& profile) {
  PipelineShape shape;
  shape.chunk_instances.resize(static_cast<std::size_t>(plan.pp * plan.vpp));
  plan::Plan one_round = plan;  // the chunks do not depend on the number of micro-batches
  one_round.grad_accum = plan.pp;
  for (std::int64_t stage = 0; stage < plan.pp; ++stage) {
    plan::Program program =
        plan::lower(config, blocks, one_round, profile, stage, plan::ProgramKind::train_step);
    std::vector<std::int64_t> sum(blocks.blocks.size(), 0);
    for (std::size_t chunk = 0; chunk < program.chunks.size(); ++chunk) {
      std::vector<std::int64_t> counts = instances_of(program.chunks[chunk], blocks);
      for (std::size_t block = 0; block < sum.size(); ++block) sum[block] += counts[block];
      shape.chunk_instances[chunk * static_cast<std::size_t>(plan.pp) +
                            static_cast<std::size_t>(stage)] = std::move(counts);
    }
    const auto found = std::find_if(
        shape.stages.begin(), shape.stages.end(),
        [&](const StageShape& other) { return same_stage(other.chunks, program.chunks); });
    shape.shape_of_stage.push_back(static_cast<std::size_t>(found - shape.stages.begin()));
    if (found != shape.stages.end()) continue;
    shape.stages.push_back({stage, std::move(program.chunks)});
    shape.instances.push_back(std::move(sum));
  }
  return shape;
}

std::vector<PeakMoments> shape_moments(const PipelineShape& shape,
                                       const plan::ProgramBlocks& blocks,
                                       const std::vector<const predict::SlotStates*>& slots,
                                       const plan::StateMotion& motion,
                                       plan::GradientLifetime gradient_lifetime) {
  std::vector<PeakMoments> moments;
  moments.reserve(shape.stages.size());
  for (std::size_t i = 0; i < shape.stages.size(); ++i) {
    moments.push_back(peak_moments({.chunks = &shape.stages[i].chunks,
                                    .blocks = &blocks,
                                    .motion = motion,
                                    .gradient_lifetime = gradient_lifetime},
                                   *slots[i]));
  }
  return moments;
}

}  // namespace fourhold::search
