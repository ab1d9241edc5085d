// A plan that is legal on one device, and what a change of it is refused with.
#pragma once

#include <cstdint>
#include <functional>

#include <gtest/gtest.h>

#include "fourhold/plan/schedule.h"
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

inline void expect_legal(const Change& change, const model::ModelConfig& config = dense_model({})) {
  EXPECT_NO_THROW(validate(changed(change), config, everything()));
}

// The eight layers in pp x vpp chunks.
inline void pipeline(Plan& plan, std::int64_t pp, std::int64_t vpp, std::int64_t grad_accum) {
  plan.pp = pp;
  plan.vpp = vpp;
  plan.grad_accum = grad_accum;
  plan.global_batch = grad_accum;
  plan.schedule = vpp > 1 ? ScheduleKind::interleaved : ScheduleKind::one_f_one_b;
  plan.layers_per_stage = canonical_layout(8, pp * vpp);
}

}  // namespace fourhold::plan
