#include "fourhold/api/plan_verb.h"

#include <sstream>

#include <gtest/gtest.h>

#include "fourhold/api/plan_file.h"
#include "fourhold/report/text.h"
#include "tests/unit/api/expect_error.h"
#include "tests/unit/api/json_keys.h"
#include "tests/unit/api/test_folder.h"

namespace fourhold::api {
namespace {

PlanVerbRequest of(const std::string& device, std::int64_t count) {
  PlanVerbRequest request;
  request.run.model = "gpt2";
  request.run.target.device = device;
  request.run.plan.count = count;
  request.run.plan.seq = 512;
  request.run.plan.global_batch = 16;
  return request;
}

std::vector<std::string> without(const std::vector<std::string>& keys, const std::string& part) {
  std::vector<std::string> kept;
  for (const std::string& key : keys) {
    if (key.find(part) == std::string::npos) kept.push_back(key);
  }
  return kept;
}

TEST(PlanVerb, ItsJsonHasTheseMembers) {
  PlanVerbRequest request = of("t4", 4);
  request.time.tokens = 1'000'000'000;
  std::vector<std::string> keys = keys_of(to_json(find_plan(request)));
  keys = without(without(without(keys, "memory."), "time."), "devices[]");
  EXPECT_EQ(keys, (std::vector<std::string>{"schema text",
                                            "model.name text",
                                            "model.parameters integer",
                                            "model.active_parameters integer",
                                            "device.name text",
                                            "device.usable_bytes integer",
                                            "device.headroom number",
                                            "device.budget_bytes integer",
                                            "chosen list",
                                            "plans[].rank integer",
                                            "plans[].device text",
                                            "plans[].plan object",
                                            "plans[].run.tokens integer",
                                            "plans[].run.days number",
                                            "plans[].run.single_device_days number",
                                            "plans[].run.speedup number",
                                            "plans[].run.speedup_kept number",
                                            "plans[].run.cost_usd number",
                                            "plans[].run.deadline_days number",
                                            "plans[].fit_probability number",
                                            "verdict.class text",
                                            "verdict.reason null",
                                            "verdict.explanation text",
                                            "verdict.missing_bytes integer",
                                            "verdict.missing_device_bytes integer",
                                            "verdict.missing_host_bytes integer",
                                            "verdict.answers list",
                                            "fit_probability number",
                                            "baselines[].kind text",
                                            "baselines[].class text",
                                            "baselines[].missing_bytes integer",
                                            "rejected[].reason text",
                                            "rejected[].count integer",
                                            "rejected[].nearest null",
                                            "search.candidates integer",
                                            "search.illegal integer",
                                            "search.does_not_fit integer",
                                            "search.pruned integer",
                                            "search.evaluated integer",
                                            "search.seconds number",
                                            "scaling[].devices integer",
                                            "scaling[].tokens_per_second number",
                                            "scaling[].speedup number",
                                            "scaling[].speedup_kept number",
                                            "pareto null",
                                            "asked null",
                                            "notes list"}));
}

TEST(PlanVerb, TheFirstThreeLinesAnswerAndNoLineIsTooWide) {
  const PlanVerbResult result = find_plan(of("t4", 4));
  for (const int columns : {60, 80, 120}) {
    std::istringstream in(to_text(result, {.columns = columns}));
    for (std::string line; std::getline(in, line);) {
      EXPECT_LE(report::columns_of(line), columns) << line;
    }
  }
  std::istringstream in(to_text(result, report::Screen{}));
  std::string answer;
  std::string split;
  std::string next;
  std::getline(in, answer);
  std::getline(in, split);
  std::getline(in, next);
  EXPECT_TRUE(holds(answer, "gpt2 on 4 x t4: fits: "));
  EXPECT_TRUE(holds(answer, "per step"));
  EXPECT_TRUE(holds(split, "Split: "));
  EXPECT_TRUE(holds(next, "Next: "));
}

TEST(PlanVerb, TheFastestPlanReadsBackAsItself) {
  const TestFolder folder;
  const PlanVerbResult result = find_plan(of("t4", 4));
  PredictRequest again;
  again.run.model = folder.write("plan.json", plan_file_of(result));
  const PredictResult predicted = predict(again);
  EXPECT_EQ(predicted.planned.plan, result.best().plans.front().plan);
  EXPECT_EQ(predicted.planned.memory.device_bytes, result.best().plans.front().memory.device_bytes);
  EXPECT_DOUBLE_EQ(predicted.time.step->step_seconds,
                   result.best().plans.front().time.step->step_seconds);
}

TEST(PlanVerb, TheCurveEndsAtTheBestPlan) {
  const PlanVerbResult result = find_plan(of("t4", 4));
  ASSERT_EQ(result.scaling.back().devices, 4);
  EXPECT_NEAR(16 * 512 / result.scaling.back().tokens_per_second,
              result.best().plans.front().time.step->step_seconds, 1e-9);
}

TEST(PlanVerb, DevicesAreComparedAndTheFasterComesFirst) {
  const PlanVerbResult result = find_plan(of("t4,a100-sxm-80gb", 4));
  ASSERT_EQ(result.devices.size(), 2U);
  EXPECT_EQ(result.best().name(), "a100-sxm-80gb");  // 312 TFLOP/s to 65
  EXPECT_TRUE(holds(to_text(result, report::Screen{}), "Devices compared"));
  EXPECT_EQ(to_json(result).find("plans")->array().size(), 20U);
}

TEST(PlanVerb, WhereNothingFitsTheNearestMissIsJudged) {
  PlanVerbRequest request = of("t4", 1);
  request.run.model = "llama-2-7b";
  request.run.target.host_memory = Bytes(1'000'000'000);
  const PlanVerbResult result = find_plan(request);
  EXPECT_TRUE(result.best().plans.empty());
  EXPECT_NE(result.best().verdict.verdict, predict::VerdictClass::fits);
  EXPECT_GT(result.best().verdict.missing_bytes, Bytes(0));
  EXPECT_TRUE(plan_file_of(result).empty());
  EXPECT_TRUE(holds(to_text(result, report::Screen{}), "no split fits"));
}

TEST(PlanVerb, BaselinesSayWhyAFullCopyFails) {
  PlanVerbRequest request = of("rtx-3090", 8);
  request.run.model = "llama-2-7b";  // 107.8 GB of state at 16 bytes per parameter
  const PlanVerbResult result = find_plan(request);
  ASSERT_EQ(result.baselines.size(), 2U);
  for (const Baseline& baseline : result.baselines) {
    EXPECT_EQ(baseline.verdict, predict::VerdictClass::state_does_not_fit);
    EXPECT_GT(baseline.missing_bytes, 80'000'000'000);
  }
}

TEST(PlanVerb, APlanIsSetBesideTheFastest) {
  const TestFolder folder;
  PlanVerbRequest request;
  request.from = folder.write("asked.json", R"({"schema": "fourhold.plan-file/1", "model": "gpt2",
          "device": "t4", "count": 4, "plan": {"tp": 4, "dp": 1, "seq": 512, "global_batch": 16}})");
  const PlanVerbResult result = find_plan(request);
  EXPECT_EQ(result.asked->planned.plan.tp, 4);
  EXPECT_GE(to_json(result).find("asked")->find("slower_percent")->number(), 0);
}

TEST(PlanVerb, AChangeKeepsDevicesAndBatch) {
  const TestFolder folder;
  PlanVerbRequest request;
  request.from = folder.write("asked.json", R"({"schema": "fourhold.plan-file/1", "model": "gpt2",
          "device": "t4", "count": 4, "plan": {"tp": 4, "dp": 1, "seq": 512, "global_batch": 16}})");
  request.changes = {"tp=2", "zero=1"};
  const PlanVerbResult result = find_plan(request);
  ASSERT_EQ(result.changed.size(), 2U);
  const plan::Plan& changed = result.changed[1].planned.plan;
  EXPECT_EQ(changed.tp, 2);
  EXPECT_EQ(changed.dp, 2);
  EXPECT_EQ(changed.zero, 1);
  EXPECT_EQ(changed.global_batch, 16);
}

TEST(PlanVerb, ParetoPlansBeatEachOtherInSomething) {
  PlanVerbRequest request = of("t4", 4);
  request.pareto = true;
  const PlanVerbResult result = find_plan(request);
  ASSERT_TRUE(result.pareto.has_value());
  for (const search::ParetoPoint& a : *result.pareto) {
    for (const search::ParetoPoint& b : *result.pareto) {
      if (&a == &b) continue;
      EXPECT_FALSE(a.devices <= b.devices && a.live_peak_bytes <= b.live_peak_bytes &&
                   a.plan.step_seconds <= b.plan.step_seconds);
    }
  }
}

TEST(PlanVerb, SaysWhatIsMissing) {
  PlanVerbRequest request = of("t4", 4);
  request.run.plan.count.reset();
  EXPECT_EQ(refusal_of([&] { static_cast<void>(find_plan(request)); }).where, "--count");
  request = of("", 4);
  EXPECT_EQ(refusal_of([&] { static_cast<void>(find_plan(request)); }).where, "--device");
  request = of("t4", 4);
  request.changes = {"tp=2"};
  EXPECT_EQ(refusal_of([&] { static_cast<void>(find_plan(request)); }).where, "--change");
}

}  // namespace
}  // namespace fourhold::api
