#include "fourhold/api/plan_file.h"

#include <gtest/gtest.h>

#include "tests/unit/api/expect_error.h"
#include "tests/unit/api/test_folder.h"

namespace fourhold::api {
namespace {

constexpr const char* kFile = R"({"schema": "fourhold.plan-file/1", "model": "gpt2",
                                  "device": "t4", "count": 4, "plan": {"tp": 2, "zero": 1}})";

TEST(PlanFile, NamesModelDeviceCountAndFields) {
  const PlanFile file = parse_plan_file(kFile, "p.json", PlanFileKind::names_its_model);
  EXPECT_EQ(file.model, "gpt2");
  EXPECT_EQ(file.target.device, "t4");
  EXPECT_EQ(file.plan.count, 4);
  EXPECT_EQ(file.plan.tp, 2);
  EXPECT_EQ(file.plan.zero, 1);
  EXPECT_FALSE(file.plan.pp.has_value());
}

TEST(PlanFile, APlanAloneIsReadWhereTheModelIsNamedElsewhere) {
  EXPECT_EQ(parse_plan_file(R"({"pp": 4})", "p.json", PlanFileKind::any).plan.pp, 4);
  EXPECT_TRUE(holds(refusal_of([] {
                      static_cast<void>(
                          parse_plan_file(R"({"pp": 4})", "p.json", PlanFileKind::names_its_model));
                    }).where,
                    "schema"));
}

TEST(PlanFile, RefusesAnotherSchema) {
  const Refusal refusal = refusal_of([] {
    static_cast<void>(parse_plan_file(R"({"schema": "fourhold.plan-file/2", "plan": {}})", "p.json",
                                      PlanFileKind::any));
  });
  EXPECT_TRUE(holds(refusal.where, "p.json"));
  EXPECT_TRUE(holds(refusal.hint, "fourhold.plan-file/1"));
}

TEST(PlanFile, RefusesAFileWithoutAPlan) {
  EXPECT_TRUE(holds(refusal_of([] {
                      static_cast<void>(parse_plan_file(R"({"schema": "fourhold.plan-file/1"})",
                                                        "p.json", PlanFileKind::any));
                    }).where,
                    "plan"));
}

TEST(PlanFile, RefusesAFileWithoutAModelWhereNoneIsNamedElsewhere) {
  EXPECT_TRUE(holds(refusal_of([] {
                      static_cast<void>(
                          parse_plan_file(R"({"schema": "fourhold.plan-file/1", "plan": {}})",
                                          "p.json", PlanFileKind::names_its_model));
                    }).where,
                    "model"));
}

TEST(PlanFile, RefusesUnknownFieldsOutsideAndInsideThePlan) {
  EXPECT_TRUE(holds(refusal_of([] {
                      static_cast<void>(parse_plan_file(
                          R"({"schema": "fourhold.plan-file/1", "modell": "x", "plan": {}})",
                          "p.json", PlanFileKind::any));
                    }).hint,
                    "model"));
  EXPECT_TRUE(holds(refusal_of([] {
                      static_cast<void>(parse_plan_file(
                          R"({"schema": "fourhold.plan-file/1", "plan": {"tpp": 2}})", "p.json",
                          PlanFileKind::any));
                    }).where,
                    "tpp"));
}

TEST(PlanFile, IsToldFromAConfigByItsSchema) {
  const TestFolder folder;
  EXPECT_TRUE(is_plan_file(folder.write("plan.json", kFile)));
  EXPECT_FALSE(is_plan_file(folder.write("config.json", R"({"model_type": "gpt2"})")));
  EXPECT_FALSE(is_plan_file("gpt2"));
}

TEST(PlanFile, KeepsWhatItsAnswerDependsOn) {
  TargetRequest target;
  target.device = "t4";
  target.memory = Bytes(10'000'000'000);
  target.host_memory = Bytes(64'000'000'000);
  target.headroom = 0.1;
  TimeRequest time;
  time.tokens = 1'000'000'000'000;
  time.deadline = 2.5;
  time.price = 0.75;
  time.mfu = 0.4;
  plan::Plan plan;
  plan.seq = 512;
  const PlanFile read = parse_plan_file(plan_file_text("gpt2", target, time, plan), "p.json",
                                        PlanFileKind::names_its_model);
  EXPECT_EQ(read.target.device, "t4");
  EXPECT_EQ(read.target.memory, target.memory);
  EXPECT_EQ(read.target.host_memory, target.host_memory);
  EXPECT_EQ(read.target.headroom, target.headroom);
  EXPECT_EQ(read.time.tokens, time.tokens);
  EXPECT_EQ(read.time.deadline, time.deadline);
  EXPECT_EQ(read.time.price, time.price);
  EXPECT_EQ(read.time.mfu, time.mfu);
  EXPECT_FALSE(read.time.tokens_per_second.has_value());
  EXPECT_EQ(read.plan.seq, 512);
}

TEST(PlanFile, KeepsTheConfidenceAndNotWhatItCameTo) {
  TargetRequest target;
  target.device = "t4";
  target.confidence = 0.95;
  target.sure_headroom = 0.2;
  plan::Plan plan;
  plan.seq = 512;
  const PlanFile read =
      parse_plan_file(plan_file_text("gpt2", target, {}, plan), "p.json", PlanFileKind::any);
  EXPECT_EQ(read.target.confidence, 0.95);
  EXPECT_FALSE(read.target.headroom.has_value());
  EXPECT_EQ(read.target.sure_headroom, 0);
}

TEST(PlanFile, LeavesOutWhatWasNotGiven) {
  plan::Plan plan;
  plan.seq = 512;
  const std::string text = plan_file_text("gpt2", {}, {}, plan);
  for (const char* name : {"device", "memory", "headroom", "tokens", "price"}) {
    EXPECT_FALSE(holds(text, std::string("\"") + name + "\":")) << name;
  }
}

TEST(PlanFile, IsNotTheAnswerOfACommand) {
  const TestFolder folder;
  const std::string answer =
      folder.write("answer.json", R"({"schema": "fourhold.plan/1", "model": {"name": "gpt2"}})");
  const Refusal as_model = refusal_of([&] { static_cast<void>(is_plan_file(answer)); });
  EXPECT_TRUE(holds(as_model.what, "fourhold.plan/1"));
  EXPECT_TRUE(holds(as_model.hint, "-o plan.json"));
  EXPECT_TRUE(
      holds(refusal_of([&] { static_cast<void>(read_plan_file(answer, PlanFileKind::any)); }).hint,
            "-o plan.json"));
}

}  // namespace
}  // namespace fourhold::api
