// Limits of pipelines: how many stages, chunks and forwards a plan may have.
#include <gtest/gtest.h>

#include "fourhold/plan/schedule.h"
#include "legal_plan.h"

namespace fourhold::plan {
namespace {

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
  const Fault fault = refusal(of((kMostPipelineForwards / 2) + 1));
  EXPECT_EQ(fault.where, "grad_accum");
  EXPECT_TRUE(contains(fault.what, "2 x 1 x 4194305"));
  EXPECT_TRUE(contains(fault.hint, "at most 4194304"));
  EXPECT_NO_THROW(validate(changed(of(kMostPipelineForwards / 2)), dense_model({}), everything()));
  // One stage needs no replay.
  EXPECT_NO_THROW(validate(changed([](Plan& plan) {
                             plan.grad_accum = std::int64_t{1} << 31;
                             plan.global_batch = plan.grad_accum;
                           }),
                           dense_model({}), everything()));
}

TEST(ValidatePipeline, StagesAndChunksHaveLimitsOfTheirOwn) {
  EXPECT_EQ(refusal([](Plan& plan) { plan.vpp = 1000; }).what, "is 1000; it must be from 1 to 64");
  EXPECT_EQ(refusal([](Plan& plan) { plan.pp = 4096; }).what, "is 4096; it must be from 1 to 2048");
}

TEST(ValidatePipeline, OneStageIsSingular) {
  const Fault fault = refusal([](Plan& plan) { plan.layers_per_stage = {4, 4}; });
  EXPECT_TRUE(contains(fault.what, "names 2 stages, but pp x vpp is 1"));
  EXPECT_TRUE(contains(fault.hint, "for 1 stage of 8 layers: --layers-per-stage 8"));
}

}  // namespace
}  // namespace fourhold::plan
