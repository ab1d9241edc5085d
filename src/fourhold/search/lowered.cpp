#include "fourhold/search/lowered.h"

#include <utility>

namespace fourhold::search {

PolicyClass class_of(const plan::RecomputePolicy& policy) {
  switch (policy.kind) {
    case plan::RecomputeKind::none:
      return PolicyClass::none;
    case plan::RecomputeKind::selective:
      return PolicyClass::selective;
    case plan::RecomputeKind::saved:
      return static_cast<PolicyClass>(static_cast<int>(PolicyClass::saved) + policy.saved);
    case plan::RecomputeKind::full:
      break;
  }
  return policy.full_layers < 0 ? PolicyClass::full : PolicyClass::partly;
}

const LoweredBlocks& Lowering::blocks(const plan::Plan& plan) {
  std::unique_ptr<LoweredBlocks>& made =
      blocks_[{plan.tp, plan.cp, plan.ep, class_of(plan.recompute)}];
  if (made == nullptr) made = std::make_unique<LoweredBlocks>(lower(plan));
  return *made;
}

const BlockFacts& Lowering::facts(const plan::Plan& plan) {
  const FactsKey key{{plan.tp, plan.cp, plan.ep, class_of(plan.recompute)},
                     plan.micro_batch,
                     clock_ ? clock_->layer_floor_seconds(plan) : 0};
  const auto found = facts_.find(key);
  if (found != facts_.end()) return *found->second;
  auto made = std::make_unique<BlockFacts>(
      class_of(plan.recompute) == PolicyClass::partly ? partly_facts(plan) : lower(plan).facts);
  return *facts_.emplace(key, std::move(made)).first->second;
}

BlockFacts Lowering::partly_facts(const plan::Plan& plan) {
  plan::Plan other = plan;
  other.recompute = {};
  const BlockFacts& plain = facts(other);
  other.recompute = plan::recompute_from_string("full");
  const BlockFacts& full = facts(other);
  BlockFacts both;
  both.stream_bytes = plain.stream_bytes;
  const auto add = [&both](const BlockFacts& from, std::size_t block) {
    both.lifetimes.push_back(from.lifetimes[block]);
    if (!from.seconds.empty()) both.seconds.push_back(from.seconds[block]);
  };
  // plan::lower_blocks: the embedding, each kind of layer (plain before recomputed), the head.
  const std::size_t head = plain.lifetimes.size() - 1;
  add(plain, 0);
  for (std::size_t kind = 1; kind < head; ++kind) {
    add(plain, kind);
    add(full, kind);
  }
  add(plain, head);
  return both;
}

LoweredBlocks Lowering::lower(const plan::Plan& plan) const {
  LoweredBlocks lowered;
  lowered.micro_batch = plan.micro_batch;
  lowered.blocks = plan::lower_blocks(config_, plan, profile_);
  lowered.facts.lifetimes.reserve(lowered.blocks.blocks.size());
  for (const plan::ProgramBlock& block : lowered.blocks.blocks) {
    lowered.facts.lifetimes.push_back(predict::block_lifetimes(block));
    // Sums need bytes by step only; what each tensor adds is a ledger's.
    lowered.facts.lifetimes.back().storages = {};
  }
  const auto layer = static_cast<std::size_t>(lowered.blocks.layer_of_kind.front());
  lowered.facts.stream_bytes = lowered.facts.lifetimes[layer].output_bytes;
  if (clock_) lowered.facts.seconds = clock_->seconds(lowered.blocks, plan);
  return lowered;
}

}  // namespace fourhold::search
