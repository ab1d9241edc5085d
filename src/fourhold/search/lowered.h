// Blocks lowered for a micro-batch, shared by every candidate whose local shapes are the same.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "fourhold/plan/program.h"
#include "fourhold/predict/block_lifetimes.h"
#include "fourhold/predict/pipeline_time.h"

namespace fourhold::search {

// What a policy does to blocks: full:K lowers alike for every K. From `saved` on, one for each set
// of saved groups.
enum class PolicyClass : std::uint8_t { none, selective, full, partly, saved };
inline constexpr std::size_t kPolicyClasses =
    static_cast<std::size_t>(PolicyClass::saved) + (std::size_t{1} << plan::kSavedGroups);
[[nodiscard]] PolicyClass class_of(const plan::RecomputePolicy& policy);

// What of lowered blocks depends on the micro-batch.
struct BlockFacts {
  std::vector<predict::BlockLifetimes> lifetimes;
  std::vector<predict::ChunkSeconds> seconds;  // of one instance and one micro-batch
  std::int64_t stream_bytes = 0;               // what a layer hands to the next
};

// The whole description, of any micro-batch: parameters, steps, and which block is which.
struct LoweredBlocks {
  plan::ProgramBlocks blocks;
  BlockFacts facts;              // of the micro-batch it was lowered for
  std::int64_t micro_batch = 0;  // that one
};

// The model of time, as far as blocks go.
struct BlockClock {
  // Seconds of every block of a plan.
  std::function<std::vector<predict::ChunkSeconds>(const plan::ProgramBlocks&, const plan::Plan&)>
      seconds;
  // The one thing about them that depends on more than (tp, cp, ep, micro_batch) and the policy.
  std::function<double(const plan::Plan&)> layer_floor_seconds;
};

// Lowers on first use. Local shapes depend on (tp, cp, ep), the micro-batch and the policy's class.
// References stay valid. Without a clock no seconds are made.
class Lowering {
 public:
  Lowering(const model::ModelConfig& config, const plan::Profile& profile,
           std::optional<BlockClock> clock)
      : config_(config), profile_(profile), clock_(std::move(clock)) {}

  // Of the first micro-batch that is asked for.
  const LoweredBlocks& blocks(const plan::Plan& plan);
  // Of the plan's micro-batch.
  const BlockFacts& facts(const plan::Plan& plan);

 private:
  [[nodiscard]] LoweredBlocks lower(const plan::Plan& plan) const;
  // Of full:K, from those of its two policies.
  [[nodiscard]] BlockFacts partly_facts(const plan::Plan& plan);

  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, PolicyClass>;
  const model::ModelConfig& config_;
  const plan::Profile& profile_;
  std::optional<BlockClock> clock_;
  std::map<Key, std::unique_ptr<LoweredBlocks>> blocks_;
  using FactsKey = std::tuple<Key, std::int64_t, double>;  // micro-batch, layer floor
  std::map<FactsKey, std::unique_ptr<BlockFacts>> facts_;
};

}  // namespace fourhold::search
