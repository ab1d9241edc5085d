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
  EXPECT_EQ(file.device, "t4");
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

}  // namespace
}  // namespace fourhold::api
