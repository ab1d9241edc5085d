#include "fourhold/api/what_if.h"

#include <gtest/gtest.h>

#include "tests/unit/api/expect_error.h"

namespace fourhold::api {
namespace {

// Everything a plan file may give: 64 devices, global batch 64.
plan::PlanRequest given() {
  plan::PlanRequest request;
  request.count = 64;
  request.tp = 8;
  request.sp = true;
  request.pp = 2;
  request.dp = 4;
  request.micro_batch = 1;
  request.grad_accum = 16;
  request.global_batch = 64;
  request.layers_per_stage = std::vector<std::int64_t>{40, 40};
  return request;
}

TEST(WhatIf, ReplicasAndStepsFollowASplit) {
  plan::PlanRequest request = given();
  apply_changes({"tp=4"}, request);
  EXPECT_EQ(request.tp, 4);
  EXPECT_EQ(request.count, 64);
  EXPECT_EQ(request.global_batch, 64);
  EXPECT_FALSE(request.dp.has_value());
  EXPECT_FALSE(request.grad_accum.has_value());
  EXPECT_FALSE(request.sp.has_value());
  EXPECT_TRUE(request.layers_per_stage.has_value());
}

TEST(WhatIf, TheLayoutFollowsTheStages) {
  plan::PlanRequest request = given();
  apply_changes({"pp=4", "recompute=full"}, request);
  EXPECT_FALSE(request.layers_per_stage.has_value());
  EXPECT_EQ(request.recompute->kind, plan::RecomputeKind::full);
}

TEST(WhatIf, MoreReplicasAreMoreDevices) {
  plan::PlanRequest request = given();
  apply_changes({"dp=8"}, request);
  EXPECT_FALSE(request.count.has_value());
  EXPECT_EQ(request.dp, 8);
}

TEST(WhatIf, RefusesWhatIsNoChange) {
  plan::PlanRequest request = given();
  EXPECT_TRUE(holds(refusal_of([&] { apply_changes({"tp"}, request); }).what, "FIELD=VALUE"));
  EXPECT_TRUE(holds(refusal_of([&] { apply_changes({"tpp=4"}, request); }).hint, "'tp'"));
  EXPECT_TRUE(holds(refusal_of([&] { apply_changes({"tp=4", "tp=2"}, request); }).what, "twice"));
}

}  // namespace
}  // namespace fourhold::api
