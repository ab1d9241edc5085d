#include "fourhold/search/lowered.h"

#include <utility>

namespace fourhold::search {

PolicyClass class_of(const plan::RecomputePolicy& policy) {
  switch (policy.kind) {
    case plan::RecomputeKind::none:
      return PolicyClass::none;
    case plan::RecomputeKind::selective:
      return PolicyClass::selective;
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
  const double floor_seconds = clock_ ? clock_->layer_floor_seconds(plan) : 0;
  std::unique_ptr<BlockFacts>& made = facts_[{
      {plan.tp, plan.cp, plan.ep, class_of(plan.recompute)}, plan.micro_batch, floor_seconds}];
  if (made == nullptr) made = std::make_unique<BlockFacts>(lower(plan).facts);
  return *made;
}

LoweredBlocks Lowering::lower(const plan::Plan& plan) const {
  LoweredBlocks lowered;
  lowered.blocks = plan::lower_blocks(config_, plan, profile_);
  lowered.facts.lifetimes.reserve(lowered.blocks.blocks.size());
  for (const plan::ProgramBlock& block : lowered.blocks.blocks) {
    lowered.facts.lifetimes.push_back(predict::block_lifetimes(block));
  }
  const auto layer = static_cast<std::size_t>(lowered.blocks.layer_of_kind.front());
  lowered.facts.stream_bytes = lowered.facts.lifetimes[layer].output_bytes;
  if (clock_) lowered.facts.seconds = clock_->seconds(lowered.blocks, plan);
  return lowered;
}

}  // namespace fourhold::search
