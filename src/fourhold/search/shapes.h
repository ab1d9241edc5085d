// The pipeline shapes of a search and their moments: shared by all splits with the same stages.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "fourhold/search/pipeline_shape.h"

namespace fourhold::search {

// plan::StateMotion as a number: what is gathered and reduced around blocks decides the moments.
inline constexpr std::size_t kMotions = 4;
[[nodiscard]] constexpr std::size_t index_of(const plan::StateMotion& motion) {
  return (motion.gathers_blocks ? 2U : 0U) + (motion.reduces_each_block ? 1U : 0U);
}

using StageMoments = std::vector<PeakMoments>;  // per different stage

struct Shape {
  PipelineShape pipeline;
  // By micro-batches that differ: one per Motion.
  std::map<std::int64_t, std::array<std::optional<StageMoments>, kMotions>> moments;
};

// Makes each on first use. References stay valid.
class Shapes {
 public:
  Shapes(const model::ModelConfig& config, const plan::Profile& profile)
      : config_(config), profile_(profile) {}

  // Of a plan's (pp, vpp) and recompute policy; `blocks` are lowered for the policy's class.
  Shape& of(const plan::Plan& plan, const plan::ProgramBlocks& blocks);
  const StageMoments& moments(Shape& shape, const plan::Plan& plan,
                              const plan::ProgramBlocks& blocks, const plan::StateMotion& motion);

  // The works that `moments` of plans with this policy name: the list grows with them.
  [[nodiscard]] const Works& works(const plan::RecomputePolicy& policy) const {
    return policy.full_layers < 0 ? works_ : works_partly_;
  }

 private:
  // As many micro-batches as matter.
  [[nodiscard]] std::int64_t micro_batches(const plan::Plan& plan,
                                           const plan::ProgramBlocks& blocks) const;
  const predict::SlotStates& slots(const plan::Plan& plan, std::int64_t stage,
                                   std::int64_t micro_batches);

  // none, selective and full have blocks in the same places; full:K has its own.
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  const model::ModelConfig& config_;
  const plan::Profile& profile_;
  // (pp, vpp), stage, micro-batches.
  using SlotsKey = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  std::map<Key, std::unique_ptr<Shape>> shapes_;
  Works works_;
  Works works_partly_;
  std::map<SlotsKey, std::unique_ptr<predict::SlotStates>> slots_;
};

}  // namespace fourhold::search
