#include "fourhold/api/plan_usage.h"

#include <gtest/gtest.h>

#include "tests/unit/api/expect_error.h"

namespace fourhold::api {
namespace {

plan::PlanRequest on(std::int64_t count, std::int64_t global_batch) {
  plan::PlanRequest request;
  request.count = count;
  request.global_batch = global_batch;
  return request;
}

Refusal impossible(const plan::PlanRequest& request) {
  return refusal_of([&] { refuse_impossible_splits(request); });
}

TEST(PlanUsage, ASplitThatDoesNotDivideTheDevicesNamesThoseThatDo) {
  plan::PlanRequest request = on(8, 64);
  request.dp = 3;
  const Refusal refusal = impossible(request);
  EXPECT_EQ(refusal.where, "--dp");
  EXPECT_EQ(refusal.hint, "use --dp 2 or 4, or --count 6 or 9");
  request.dp = 16;
  EXPECT_EQ(impossible(request).hint, "use --dp 8, or --count 16");
}

TEST(PlanUsage, SplitsThatTogetherDoNotDivideTheDevicesAreNamedTogether) {
  plan::PlanRequest request = on(8, 64);
  request.tp = 2;
  request.pp = 3;
  const Refusal refusal = impossible(request);
  EXPECT_TRUE(holds(refusal.what, "--tp 2 x --pp 3 = 6"));
  EXPECT_TRUE(holds(refusal.hint, "--count 6 or 12"));
}

TEST(PlanUsage, AMicroBatchThatDoesNotDivideTheBatchNamesThoseThatDo) {
  plan::PlanRequest request = on(8, 64);
  request.micro_batch = 3;
  const Refusal refusal = impossible(request);
  EXPECT_EQ(refusal.where, "--micro-batch");
  EXPECT_EQ(refusal.hint, "use --micro-batch 2 or 4, or --global-batch 63 or 66");
}

TEST(PlanUsage, WhatDividesIsNotRefused) {
  plan::PlanRequest request = on(8, 64);
  request.tp = 2;
  request.dp = 4;
  request.micro_batch = 16;
  EXPECT_NO_THROW(refuse_impossible_splits(request));
}

TEST(PlanUsage, WhatOnlyASearchAnswersIsRefusedBesideChanges) {
  PlanVerbRequest request;
  request.from = "plan.json";
  request.changes = {"tp=2"};
  EXPECT_NO_THROW(refuse_contradictions(request));
  PlanVerbRequest pareto = request;
  pareto.pareto = true;
  EXPECT_EQ(refusal_of([&] { refuse_contradictions(pareto); }).where, "--pareto");
  PlanVerbRequest bounds = request;
  bounds.bounds = false;
  EXPECT_EQ(refusal_of([&] { refuse_contradictions(bounds); }).where, "--bounds");
  PlanVerbRequest across = request;
  across.tp_across_nodes = true;
  EXPECT_EQ(refusal_of([&] { refuse_contradictions(across); }).where, "--tp-across-nodes");
}

TEST(PlanUsage, TwoAnswersAreNotWrittenToOneFile) {
  PlanVerbRequest request;
  request.output = "out";
  request.svg = "./out";
  EXPECT_EQ(refusal_of([&] { refuse_contradictions(request); }).where, "--svg");
  request.svg = "out.svg";
  EXPECT_NO_THROW(refuse_contradictions(request));
}

TEST(PlanUsage, ADeviceUnderTwoOfItsNamesStandsTwice) {
  const Refusal refusal = refusal_of([] { refuse_same_devices({"h100", "h100-sxm-80gb"}, {}); });
  EXPECT_EQ(refusal.where, "--device");
  EXPECT_TRUE(holds(refusal.what, "'h100' and 'h100-sxm-80gb' are the same device"));
  EXPECT_NO_THROW(refuse_same_devices({"h100", "h200"}, {}));
  EXPECT_NO_THROW(refuse_same_devices({"2xh100", "4xh100"}, {}));  // another number of them
}

}  // namespace
}  // namespace fourhold::api
