// A plan that is legal on one device, and what a change of it is refused with.
#pragma once

#include <functional>

#include "fourhold/plan/validate.h"
#include "small_models.h"

namespace fourhold::plan {

inline Profile everything() {
  Profile profile;
  profile.name = "standard";
  profile.zero_stages = {0, 1, 2, 3};
  profile.splits.assign(kSplitNames.begin(), kSplitNames.end());
  return profile;
}

using Change = std::function<void(Plan&)>;

// Eight layers in one stage, but for `change`.
inline Plan changed(const Change& change) {
  Plan plan;
  plan.seq = 1024;
  plan.layers_per_stage = {8};
  change(plan);
  return plan;
}

inline Fault refusal(const Change& change, const model::ModelConfig& config = dense_model({}),
                     const Profile& profile = everything()) {
  return fault_of([&] { validate(changed(change), config, profile); });
}

}  // namespace fourhold::plan
