#include "fourhold/api/state_only.h"

#include <gtest/gtest.h>

#include "tests/unit/api/expect_error.h"

namespace fourhold::api {
namespace {

FitRequest of(std::int64_t parameters) {
  FitRequest request;
  request.parameters = parameters;
  request.run.target.memory = Bytes(1600);
  return request;
}

TEST(StateOnly, CountsSixteenBytesPerParameter) {
  const FitResult result = fit(of(100));  // 2 + 2 + 4 + 8 bytes each
  EXPECT_EQ(result.state.weight, Bytes(200));
  EXPECT_EQ(result.state.gradient, Bytes(200));
  EXPECT_EQ(result.state.master_weight, Bytes(400));
  EXPECT_EQ(result.state.optimizer_state, Bytes(800));
  EXPECT_EQ(result.verdict.verdict, predict::VerdictClass::fits);
  EXPECT_FALSE(result.activations.has_value());
}

TEST(StateOnly, SaysThatReplicasDoNotHelpAndSharesDo) {
  FitRequest request = of(1000);  // 16,000 bytes on devices of 1,600
  request.run.plan.count = 4;
  const FitResult result = fit(request);
  EXPECT_EQ(result.verdict.verdict, predict::VerdictClass::state_does_not_fit);
  EXPECT_TRUE(holds(result.verdict.explanation, "more replicas do not help"));
  EXPECT_EQ(result.zero3_devices, 10);
  ASSERT_FALSE(result.verdict.answers.empty());
  EXPECT_EQ(result.verdict.answers.front().change, "ZeRO-3 over 10 devices");
  EXPECT_EQ(result.verdict.answers.front().saves_bytes, Bytes(16000 - 1600));
  EXPECT_EQ(result.verdict.answers.front().then_class, predict::VerdictClass::fits);
}

TEST(StateOnly, LeavesOutStagesThatCannotHelp) {
  // Under ZeRO-1 weights and gradients stay whole: 4,000 bytes of 1,600.
  FitRequest request = of(1000);
  for (const predict::Answer& answer : fit(request).verdict.answers) {
    EXPECT_FALSE(holds(answer.change, "ZeRO-1")) << answer.change;
    EXPECT_FALSE(holds(answer.change, "ZeRO-2")) << answer.change;
  }
}

TEST(StateOnly, KeepsTheHeadroomFree) {
  FitRequest request = of(100);
  request.run.target.headroom = 0.1;
  const FitResult result = fit(request);
  EXPECT_EQ(result.verdict.verdict, predict::VerdictClass::state_does_not_fit);
  EXPECT_EQ(result.verdict.reason, "headroom");
}

TEST(StateOnly, RefusesWhatNeedsShapes) {
  FitRequest request = of(100);
  request.run.plan.tp = 2;
  const Refusal refusal = refusal_of([&] { static_cast<void>(fit(request)); });
  EXPECT_EQ(refusal.where, "--tp");
  EXPECT_TRUE(holds(refusal.hint, "MODEL"));
}

TEST(StateOnly, RefusesAModelBesideTheCount) {
  FitRequest request = of(100);
  request.run.model = "gpt2";
  EXPECT_EQ(refusal_of([&] { static_cast<void>(fit(request)); }).where, "--parameters");
}

TEST(StateOnly, RefusesAStageTheProfileDoesNotHave) {
  FitRequest request = of(100);
  request.run.plan.profile = "megatron";
  request.run.plan.zero = 3;
  EXPECT_EQ(refusal_of([&] { static_cast<void>(fit(request)); }).where, "zero");
}

TEST(StateOnly, FindsTheLeastDevicesExactly) {
  plan::Recipe recipe;  // bf16 with a master copy: 16 bytes
  EXPECT_EQ(least_devices(1000, recipe, 0, 3, Bytes(16'000)), 1);
  EXPECT_EQ(least_devices(1000, recipe, 0, 3, Bytes(15'999)), 2);
  EXPECT_EQ(least_devices(1000, recipe, 0, 3, Bytes(1600)), 10);
  EXPECT_EQ(least_devices(1000, recipe, 0, 1, Bytes(3999)), 0);  // 4 bytes are never shared
}

}  // namespace
}  // namespace fourhold::api
