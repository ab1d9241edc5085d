// Limits of pipelines: how many stages, chunks and forwards a plan may have.
#include <functional>

#include <gtest/gtest.h>

#include "fourhold/plan/schedule.h"
#include "fourhold/plan/validate.h"
#include "small_models.h"

namespace fourhold::plan {
namespace {

// A legal plan on one device, eight layers in one stage, but for `change`.
Plan pipelined(const std::function<void(Plan&)>& change) {
  Plan plan;
  plan.seq = 1024;
  plan.layers_per_stage = {8};
  change(plan);
  return plan;
}

Profile every_split() {
  Profile profile;
  profile.name = "standard";
  profile.zero_stages = {0, 1, 2, 3};
  profile.splits.assign(kSplitNames.begin(), kSplitNames.end());
  return profile;
}

Fault refusal_of(const std::function<void(Plan&)>& change) {
  return fault_of([&] { validate(pipelined(change), dense_model({}), every_split()); });
}

TEST(ValidatePipeline, APipelineHasFewEnoughForwardsToReplay) {
  const auto of = [](std::int64_t micro_batches) {
    return [micro_batches](Plan& plan) {
      plan.pp = 2;
      plan.schedule = ScheduleKind::gpipe;
      plan.layers_per_stage = {4, 4};
      plan.grad_accum = micro_batches;
      plan.global_batch = micro_batches;
    };
  };
  const Fault fault = refusal_of(of((kMostPipelineForwards / 2) + 1));
  EXPECT_EQ(fault.where, "grad_accum");
  EXPECT_TRUE(contains(fault.what, "2 x 1 x 4194305"));
  EXPECT_TRUE(contains(fault.hint, "at most 4194304"));
  EXPECT_NO_THROW(
      validate(pipelined(of(kMostPipelineForwards / 2)), dense_model({}), every_split()));
  // One stage needs no replay.
  EXPECT_NO_THROW(validate(pipelined([](Plan& plan) {
                             plan.grad_accum = std::int64_t{1} << 31;
                             plan.global_batch = plan.grad_accum;
                           }),
                           dense_model({}), every_split()));
}

TEST(ValidatePipeline, StagesAndChunksHaveLimitsOfTheirOwn) {
  EXPECT_EQ(refusal_of([](Plan& plan) { plan.vpp = 1000; }).what,
            "is 1000; it must be from 1 to 64");
  EXPECT_EQ(refusal_of([](Plan& plan) { plan.pp = 4096; }).what,
            "is 4096; it must be from 1 to 2048");
}

TEST(ValidatePipeline, OneStageIsSingular) {
  const Fault fault = refusal_of([](Plan& plan) { plan.layers_per_stage = {4, 4}; });
  EXPECT_TRUE(contains(fault.what, "names 2 stages, but pp x vpp is 1"));
  EXPECT_TRUE(contains(fault.hint, "for 1 stage of 8 layers: --layers-per-stage 8"));
}

}  // namespace
}  // namespace fourhold::plan
