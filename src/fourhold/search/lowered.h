// Blocks lowered for a micro-batch, shared by every candidate whose local shapes are the same.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "fourhold/plan/program.h"
#include "fourhold/predict/block_lifetimes.h"

namespace fourhold::search {

// What a policy does to blocks: full:K lowers alike for every K.
enum class PolicyClass : std::uint8_t { none, selective, full, partly };
[[nodiscard]] PolicyClass class_of(const plan::RecomputePolicy& policy);

struct LoweredBlocks {
  plan::ProgramBlocks blocks;
  std::vector<predict::BlockLifetimes> lifetimes;
};

// Lowers on first use. Local shapes depend on (tp, cp, ep, micro_batch) and the policy's class.
class Lowering {
 public:
  Lowering(const model::ModelConfig& config, const plan::Profile& profile)
      : config_(config), profile_(profile) {}

  // The reference stays valid.
  const LoweredBlocks& of(const plan::Plan& plan);

 private:
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, PolicyClass>;
  const model::ModelConfig& config_;
  const plan::Profile& profile_;
  std::map<Key, std::unique_ptr<LoweredBlocks>> made_;
};

}  // namespace fourhold::search
