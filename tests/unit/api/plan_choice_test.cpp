#include "fourhold/api/plan_choice.h"

#include <gtest/gtest.h>

#include "tests/unit/api/expect_error.h"

namespace fourhold::api {
namespace {

// smollm2-135m: 134,515,008 parameters, so 2.15 GB of state at 16 bytes each.
LoadedRun run_of(Bytes memory, std::int64_t count) {
  RunRequest request;
  request.model = "smollm2-135m";
  request.target.memory = memory;
  request.plan.count = count;
  request.plan.seq = 2048;
  return load_run(request);
}

TEST(PlanChoice, TakesTheFirstValueOfEverythingWhereThatFits) {
  const PlannedRun planned = choose_plan(run_of(Bytes(80'000'000'000), 8));
  EXPECT_EQ(planned.plan.zero, 0);
  EXPECT_EQ(planned.plan.recompute.kind, plan::RecomputeKind::none);
  EXPECT_EQ(planned.plan.offload, plan::Offload::none);
  EXPECT_EQ(planned.plan.micro_batch, 1);
}

TEST(PlanChoice, ShardsBeforeItRecomputes) {
  // Without sharding at least 2.15 GB of state; with all of it sharded over 8, 0.27 GB.
  const LoadedRun run = run_of(Bytes(2'700'000'000), 8);
  EXPECT_NE(predict::classify(complete_plan(run).memory, *complete_plan(run).capacity),
            predict::VerdictClass::fits);
  const PlannedRun planned = choose_plan(run);
  EXPECT_GT(planned.plan.zero, 0);
  EXPECT_EQ(planned.plan.recompute.kind, plan::RecomputeKind::none);
  EXPECT_EQ(predict::classify(planned.memory, *planned.capacity), predict::VerdictClass::fits);
}

TEST(PlanChoice, RecomputesBeforeItOffloads) {
  // One device has nothing to shard over: the state alone fits, the activations only recomputed.
  const LoadedRun run = run_of(Bytes(3'200'000'000), 1);
  const PlannedRun planned = choose_plan(run);
  EXPECT_EQ(planned.plan.offload, plan::Offload::none);
  EXPECT_NE(planned.plan.recompute.kind, plan::RecomputeKind::none);
  EXPECT_EQ(planned.plan.zero, 0);
}

TEST(PlanChoice, ChangesNothingThatIsGiven) {
  LoadedRun run = run_of(Bytes(2'700'000'000), 8);
  run.request.zero = 0;
  run.request.recompute = plan::recompute_from_string("none");
  run.request.offload = plan::Offload::none;
  EXPECT_EQ(choose_plan(run).plan, complete_plan(run).plan);
}

TEST(PlanChoice, TakesTheNearestMissWhereNothingFits) {
  const LoadedRun run = run_of(Bytes(1'000'000), 1);
  const PlannedRun planned = choose_plan(run);
  EXPECT_NE(predict::classify(planned.memory, *planned.capacity), predict::VerdictClass::fits);
  // Everything that takes bytes off the device was tried and kept.
  EXPECT_EQ(planned.plan.offload, plan::Offload::all);
  EXPECT_EQ(planned.plan.recompute.kind, plan::RecomputeKind::full);
}

TEST(PlanChoice, ChoosesNothingWithoutADevice) {
  RunRequest request;
  request.model = "smollm2-135m";
  const PlannedRun planned = choose_plan(load_run(request));
  EXPECT_FALSE(planned.capacity.has_value());
  EXPECT_EQ(planned.plan.zero, 0);
}

TEST(PlanChoice, StaysWithinWhatTheProfileCanExpress) {
  RunRequest request;
  request.model = "smollm2-135m";
  request.target.memory = Bytes(1'000'000);
  request.plan.count = 4;
  request.plan.profile = "megatron";  // stages 0 and 1 only
  EXPECT_LE(choose_plan(load_run(request)).plan.zero, 1);
}

TEST(PlanChoice, RefusesARequestThatNoChoiceMakesLegal) {
  RunRequest request;
  request.model = "smollm2-135m";  // 9 heads
  request.plan.tp = 2;
  EXPECT_EQ(refusal_of([&] { static_cast<void>(choose_plan(load_run(request))); }).where, "tp");
}

}  // namespace
}  // namespace fourhold::api
