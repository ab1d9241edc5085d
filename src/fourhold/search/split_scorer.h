// Scores the candidates of one split (outer tuple): exact memory, and a bound of the step time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "fourhold/predict/step_seconds.h"
#include "fourhold/search/lowered.h"
#include "fourhold/search/memory_table.h"
#include "fourhold/search/shapes.h"
#include "fourhold/search/space.h"
#include "fourhold/search/time_table.h"

namespace fourhold::search {

// What a search fixes, and what its splits share.
struct Problem {
  const Space& space;
  const model::ModelConfig& config;
  const plan::Profile& profile;
  const hardware::Cluster& cluster;
  Lowering lowering;
  Shapes shapes;
};

// Candidates that differ only in how the state is stored.
struct Group {
  std::int64_t micro_batch = 1;
  std::int64_t vpp = 1;
  std::int64_t recompute = 0;  // index into Space::recomputes
};

// Every storage of the space, in tuple order: zero, then offload.
[[nodiscard]] std::vector<Storage> storages_of(const Space& space);

class SplitScorer {
 public:
  SplitScorer(Problem& problem, const OuterTuple& outer);

  [[nodiscard]] const std::vector<Storage>& storages() const { return storages_; }
  [[nodiscard]] const std::vector<plan::RecomputePolicy>& recomputes() const { return recomputes_; }

  // The calls below are about this group. Cheapest when groups come micro-batch by micro-batch.
  void select(const Group& group);
  // Exact memory under one storage.
  [[nodiscard]] PlanBytes bytes(std::size_t storage);
  // No storage of the group takes less, in seconds.
  [[nodiscard]] double group_bound();
  // One storage's step: at least (`scored`), or exactly (`replayed`).
  [[nodiscard]] double seconds(std::size_t storage, predict::PipelineMethod method);

 private:
  struct OfClass {
    const LoweredBlocks* lowered = nullptr;
    std::vector<StorageStates> states;  // per storage
    std::int64_t micro_batch = 0;       // that the weights below are of
    const BlockFacts* facts = nullptr;
    std::vector<StorageBlocks> weights;                 // per storage
    std::vector<std::vector<std::int64_t>> work_bytes;  // per storage and named work
  };
  struct OfPipeline {
    std::vector<std::vector<StageBase>> bases;  // [storage][different stage]
    std::vector<StorageTraffic> traffic;        // per storage
  };

  OfClass& class_tables();
  OfPipeline& pipeline_tables();

  Problem& problem_;
  OuterTuple outer_;
  std::vector<Storage> storages_;
  std::vector<plan::RecomputePolicy> recomputes_;
  std::array<OfClass, kPolicyClasses> classes_;
  std::map<std::int64_t, OfPipeline> pipelines_;  // by vpp

  plan::Plan plan_;  // of the current group, under the first storage
  OfClass* class_ = nullptr;
  OfPipeline* pipeline_ = nullptr;
  std::array<const StageMoments*, kMotions> moments_{};  // of the motions that storages have
  std::array<AliveSums, kMotions> alive_;                // of each
  predict::StepFrame step_;
  predict::StepClock clock_;
};

}  // namespace fourhold::search
