#include "fourhold/predict/scaling.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fourhold/base/error.h"
#include "fourhold/hardware/catalogue.h"
#include "small_plans.h"

namespace fourhold::predict {
namespace {

TEST(Scaling, SpeedupIsKeptInFullAtMost) {
  EXPECT_DOUBLE_EQ(speedup_of(60, 10, 8).speedup, 6);
  EXPECT_DOUBLE_EQ(speedup_of(60, 10, 8).speedup_kept, 0.75);
  // A device that does the eight's work in turn needs 80 s at most.
  EXPECT_DOUBLE_EQ(speedup_of(100, 10, 8).speedup, 8);
  EXPECT_DOUBLE_EQ(speedup_of(100, 10, 8).speedup_kept, 1);
}

TEST(Scaling, ARunIsItsTokensInSteps) {
  plan::Plan plan;
  plan.dp = 4;
  plan.global_batch = 16;
  plan.seq = 1000;
  // 16,000 tokens a step: 8.64e6 steps of 10 s are 1000 days; on one device 3 times that.
  const RunPrediction run = predict_run({.tokens = 1.3824e11, .price_usd_per_device_hour = 2.0},
                                        plan, 10, {.micro_batch = 16, .step_seconds = 30});
  EXPECT_DOUBLE_EQ(run.steps, 8.64e6);
  EXPECT_DOUBLE_EQ(run.days, 1000);
  EXPECT_DOUBLE_EQ(run.single_device_days, 3000);
  EXPECT_DOUBLE_EQ(run.speedup, 3);
  EXPECT_DOUBLE_EQ(run.speedup_kept, 0.75);
  EXPECT_DOUBLE_EQ(run.cost_usd.value(), 2.0 * 4 * 24000);
}

TEST(Scaling, ARunWithoutTokensIsRefused) {
  EXPECT_THROW((void)predict_run({}, {}, 10, {}), Error);
}

TEST(Scaling, OneDeviceAloneNeedsNoAccumulation) {
  const model::ModelConfig config = test::small_model("llama");
  plan::Plan plan;
  plan.seq = 32;
  plan.dp = 4;
  plan.global_batch = 12;
  plan.layers_per_stage = {6};
  const hardware::Cluster cluster =
      hardware::uniform_cluster(hardware::load_device("a100-sxm-80gb").device, 4);
  const SingleDevice single = single_device(config, plan, plan::load_profile("standard"), cluster);
  EXPECT_EQ(single.micro_batch, 12);  // tiny layers: fewer kernels are all that counts
}

// The model's own single device is never slower than the work of all devices in turn.
RC_GTEST_PROP(Scaling, ManyDevicesNeverKeepMoreThanTheirShare, ()) {
  const model::ModelConfig config =
      test::small_model(test::pick<std::string>({"llama", "mixtral"}));
  const plan::Profile profile = plan::load_profile("standard");
  const std::optional<plan::Plan> plan = test::random_plan(config, profile);
  RC_PRE(plan.has_value());
  const hardware::Cluster cluster =
      hardware::uniform_cluster(hardware::load_device("a100-sxm-80gb").device, plan->devices());
  const double step = predict_time(config, *plan, profile, cluster).step_seconds;
  const double alone = single_device(config, *plan, profile, cluster).step_seconds;
  RC_ASSERT(alone <= step * static_cast<double>(plan->devices()) * (1 + 1e-9));
}

}  // namespace
}  // namespace fourhold::predict
