#include "fourhold/search/lowered.h"

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

const LoweredBlocks& Lowering::of(const plan::Plan& plan) {
  const Key key{plan.tp, plan.cp, plan.ep, plan.micro_batch, class_of(plan.recompute)};
  std::unique_ptr<LoweredBlocks>& made = made_[key];
  if (made != nullptr) return *made;
  made = std::make_unique<LoweredBlocks>();
  made->blocks = plan::lower_blocks(config_, plan, profile_);
  made->lifetimes.reserve(made->blocks.blocks.size());
  for (const plan::ProgramBlock& block : made->blocks.blocks) {
    made->lifetimes.push_back(predict::block_lifetimes(block));
  }
  return *made;
}

}  // namespace fourhold::search
