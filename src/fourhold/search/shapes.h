// The pipeline shapes of a search and their moments: shared by all splits with the same stages.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "fourhold/search/pipeline_shape.h"

namespace fourhold::search {

using StageMoments = std::vector<std::vector<PeakMoment>>;  // per different stage

struct Shape {
  PipelineShape pipeline;
  // By micro-batches (past the ramp all are alike) and whether blocks are reduced one by one.
  std::map<std::pair<std::int64_t, bool>, StageMoments> moments;
};

// Makes each on first use. References stay valid.
class Shapes {
 public:
  Shapes(const model::ModelConfig& config, const plan::Profile& profile)
      : config_(config), profile_(profile) {}

  // Of a plan's (pp, vpp) and recompute policy; `blocks` are lowered for the policy's class.
  Shape& of(const plan::Plan& plan, const plan::ProgramBlocks& blocks);
  const StageMoments& moments(Shape& shape, const plan::Plan& plan,
                              const plan::ProgramBlocks& blocks, bool reduces_each_block);

 private:
  // none, selective and full have blocks in the same places; full:K has its own.
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  const model::ModelConfig& config_;
  const plan::Profile& profile_;
  std::map<Key, std::unique_ptr<Shape>> shapes_;
};

}  // namespace fourhold::search
