#include "fourhold/api/run_time.h"

#include <gtest/gtest.h>

#include "fourhold/api/answer_costs.h"
#include "fourhold/api/duration_verdict.h"
#include "fourhold/api/plan_choice.h"
#include "tests/unit/api/expect_error.h"

namespace fourhold::api {
namespace {

// gpt2: 124,439,808 parameters, 12 layers, hidden 768, vocabulary 50,257.
LoadedRun gpt2_on(const std::string& device, std::int64_t count) {
  RunRequest request;
  request.model = "gpt2";
  request.target.device = device;
  if (device.empty()) request.target.memory = Bytes(80'000'000'000);
  request.plan.count = count;
  request.plan.seq = 1024;
  request.plan.micro_batch = 8;
  return load_run(request);
}

TEST(RunTime, AGivenSpeedDecidesTheDays) {
  const LoadedRun run = gpt2_on("a100-sxm-80gb", 8);
  const plan::Plan plan = complete_plan(run).plan;
  TimeRequest request;
  request.tokens = 86'400'000'000;
  request.tokens_per_second = 1e6;
  const TimeAnswer time = time_answer(run, request, plan);
  EXPECT_DOUBLE_EQ(time.run->days, 1);  // 86.4e9 / 1e6 seconds
  EXPECT_DOUBLE_EQ(time.step->tokens_per_second_per_device, 125'000);
  EXPECT_DOUBLE_EQ(time.step->step_seconds, 8 * 8 * 1024 / 1e6);
  EXPECT_FALSE(time.step->parts.has_value());
  EXPECT_FALSE(time.run->speedup_kept.has_value());
}

TEST(RunTime, CostIsPricePerDeviceAndHour) {
  const LoadedRun run = gpt2_on("a100-sxm-80gb", 8);
  TimeRequest request;
  request.tokens = 86'400'000'000;
  request.tokens_per_second = 1e6;
  request.price = 1.5;
  const TimeAnswer time = time_answer(run, request, complete_plan(run).plan);
  EXPECT_DOUBLE_EQ(*time.run->cost_usd, 8 * 24 * 1.5);
}

TEST(RunTime, AGivenUtilisationIsAShareOfThePeak) {
  const LoadedRun run = gpt2_on("a100-sxm-80gb", 8);
  TimeRequest request;
  request.mfu = 0.4;
  const TimeAnswer time = time_answer(run, request, complete_plan(run).plan);
  EXPECT_NEAR(time.step->tflops_per_device, 0.4 * 312, 1e-9);
  EXPECT_NEAR(*time.step->mfu, 0.4, 1e-12);
}

TEST(RunTime, PartsAddUpToThePredictedStep) {
  const LoadedRun run = gpt2_on("a100-sxm-80gb", 8);
  const TimeAnswer time = time_answer(run, {}, complete_plan(run).plan);
  EXPECT_NEAR(time.step->parts->total(), time.step->step_seconds, 1e-9);
  EXPECT_FALSE(time.run.has_value());
}

TEST(RunTime, OnNothingButMemoryItIsNotKnown) {
  const LoadedRun run = gpt2_on("", 1);
  const TimeAnswer time = time_answer(run, {}, complete_plan(run).plan);
  EXPECT_FALSE(time.step.has_value());
  EXPECT_FALSE(time.why_not.empty());
  TimeRequest request;
  request.mfu = 0.4;
  EXPECT_EQ(refusal_of([&] {
              static_cast<void>(time_answer(run, request, complete_plan(run).plan));
            }).where,
            "--mfu");
}

TEST(RunTime, TwoSpeedsAndADeadlineWithoutTokensAreRefused) {
  TimeRequest two;
  two.mfu = 0.4;
  two.tokens_per_second = 1;
  EXPECT_EQ(refusal_of([&] { check(two); }).where, "--mfu");
  TimeRequest alone;
  alone.deadline = 30;
  EXPECT_EQ(refusal_of([&] { check(alone); }).where, "--deadline");
}

TEST(DurationVerdict, TooLongIsAnsweredWithDevices) {
  const LoadedRun run = gpt2_on("a100-sxm-80gb", 8);
  const plan::Plan plan = complete_plan(run).plan;
  TimeRequest request;
  request.tokens = 86'400'000'000;
  request.tokens_per_second = 1e6;  // one day
  request.deadline = 0.1;
  predict::Verdict verdict;
  judge_duration(run, request, plan, time_answer(run, request, plan), verdict);
  EXPECT_EQ(verdict.verdict, predict::VerdictClass::fits_but_takes_too_long);
  EXPECT_TRUE(holds(verdict.explanation, "nothing is broken"));
  ASSERT_EQ(verdict.answers.size(), 1U);
  EXPECT_EQ(verdict.answers[0].plan.devices(), 80);  // ten times the devices, each as fast
}

TEST(DurationVerdict, ADeadlineThatIsMetChangesNothing) {
  const LoadedRun run = gpt2_on("a100-sxm-80gb", 8);
  const plan::Plan plan = complete_plan(run).plan;
  TimeRequest request;
  request.tokens = 86'400'000'000;
  request.tokens_per_second = 1e6;
  request.deadline = 1.001;
  predict::Verdict verdict;
  judge_duration(run, request, plan, time_answer(run, request, plan), verdict);
  EXPECT_EQ(verdict.verdict, predict::VerdictClass::fits);
}

TEST(AnswerCosts, FullRecomputationCostsAboutAThird) {
  // Forward again: 1 of 3 parts of the model FLOPs of layers, less what is not recomputed (head).
  const LoadedRun run = gpt2_on("a100-sxm-80gb", 1);
  const plan::Plan plan = complete_plan(run).plan;
  predict::Verdict verdict;
  predict::Answer answer;
  answer.plan = plan;
  answer.plan.recompute = plan::recompute_from_string("full");
  verdict.answers = {answer};
  add_time_costs(run, plan, verdict);
  EXPECT_GT(*verdict.answers[0].costs_time_percent, 10);
  EXPECT_LT(*verdict.answers[0].costs_time_percent, 36);
}

TEST(AnswerCosts, StayAbsentWhereTimeIsNotKnown) {
  const LoadedRun run = gpt2_on("", 1);
  const plan::Plan plan = complete_plan(run).plan;
  predict::Verdict verdict;
  verdict.answers.emplace_back().plan = plan;
  add_time_costs(run, plan, verdict);
  EXPECT_FALSE(verdict.answers[0].costs_time_percent.has_value());
}

}  // namespace
}  // namespace fourhold::api
