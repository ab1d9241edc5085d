// Which ways of training a plan may ask for beside its splits: moments, offloaded activations,
// shard groups, layers of prediction, and what is saved by name.
#include <string>

#include <gtest/gtest.h>

#include "fourhold/plan/recompute_policy.h"
#include "legal_plan.h"

namespace fourhold::plan {
namespace {

TEST(Validate, MomentsHaveFormatsWhereTheOptimizerKeepsThem) {
  expect_legal([](Plan& plan) { plan.first_moment = MomentFormat::fp8; });
  expect_legal([](Plan& plan) {
    plan.optimizer = Optimizer::lion;
    plan.first_moment = MomentFormat::bf16;
  });
  const Fault lion = refusal([](Plan& plan) {
    plan.optimizer = Optimizer::lion;
    plan.second_moment = MomentFormat::bf16;
  });
  EXPECT_EQ(lion.where, "second_moment");
  EXPECT_TRUE(contains(lion.what, "lion has no second moment")) << lion.what;
  const Fault eight = refusal([](Plan& plan) {
    plan.optimizer = Optimizer::adamw_8bit;
    plan.first_moment = MomentFormat::bf16;
  });
  EXPECT_EQ(eight.where, "first_moment");
  EXPECT_TRUE(contains(eight.what, "adamw-8bit keeps both moments in 8 bits")) << eight.what;
}

TEST(Validate, ActivationsAreOffloadedWithoutAPipelineOnly) {
  expect_legal([](Plan& plan) { plan.activation_offload = ActivationOffload::residual; });
  const Fault fault = refusal([](Plan& plan) {
    pipeline(plan, 2, 1, 4);
    plan.activation_offload = ActivationOffload::residual;
  });
  EXPECT_EQ(fault.where, "activation_offload");
  EXPECT_TRUE(contains(fault.what, "without a pipeline only, but pp is 2")) << fault.what;
}

Fault of_groups(int zero, std::int64_t groups) {
  return refusal([=](Plan& plan) {
    plan.dp = 4;
    plan.global_batch = 4;
    plan.zero = zero;
    plan.shard_groups = groups;
  });
}

TEST(Validate, ShardGroupsSplitWhatIsSharded) {
  EXPECT_EQ(of_groups(1, 2).where, "nothing was refused");
  EXPECT_EQ(of_groups(0, 2).where, "shard_groups");
  const Fault uneven = of_groups(3, 3);
  EXPECT_EQ(uneven.where, "shard_groups");
  EXPECT_TRUE(contains(uneven.hint, "2 or 4")) << uneven.hint;
}

Plan with_prediction() {
  return changed([](Plan& plan) { plan.prediction_layers = 1; });
}

std::string refused_field(const Plan& plan, const Profile& profile = everything()) {
  return fault_of([&] { validate(plan, dense_model({}), profile); }).where;
}

TEST(Validate, PredictionLayersAreTrainedWholeWithWholeLogits) {
  Plan plan = with_prediction();
  EXPECT_EQ(refused_field(plan), "nothing was refused");
  plan.loss_chunk = 64;
  EXPECT_EQ(refused_field(plan), "prediction_layers");
  plan = with_prediction();
  plan.tuning = Tuning::lora;
  plan.lora_rank = 8;
  EXPECT_EQ(refused_field(plan), "prediction_layers");
  // The last token is predicted from one that far before it.
  plan = with_prediction();
  plan.prediction_layers = 4;
  plan.seq = 5;
  EXPECT_EQ(refused_field(plan), "nothing was refused");
  plan.seq = 4;
  EXPECT_EQ(refused_field(plan), "prediction_layers");
}

std::string refused_policy(RecomputeChoice choice, const char* policy) {
  Profile profile = everything();
  profile.recompute_choice = choice;
  Plan plan = changed([](Plan& /*plan*/) {});
  plan.recompute = recompute_from_string(policy);
  return refused_field(plan, profile);
}

TEST(Validate, PoliciesThatSaveByNameAreOfProfilesThatHaveThem) {
  EXPECT_EQ(refused_policy(RecomputeChoice::groups, "minimal"), "recompute");
  EXPECT_EQ(refused_policy(RecomputeChoice::saved_names, "minimal"), "nothing was refused");
  EXPECT_EQ(refused_policy(RecomputeChoice::saved_names, "full"), "nothing was refused");
  EXPECT_EQ(refused_policy(RecomputeChoice::saved_names, "full:2"), "recompute");
  EXPECT_EQ(refused_policy(RecomputeChoice::saved_names, "selective"), "recompute");
}

}  // namespace
}  // namespace fourhold::plan
