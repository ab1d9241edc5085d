#include "fourhold/api/plan_options.h"

#include <gtest/gtest.h>

namespace fourhold::api {
namespace {

TEST(PlanOptions, BatchIsASecondNameOfTheMicroBatch) {
  plan::PlanRequest request;
  std::string alias;
  visit_plan_options(
      [&alias](const Option& option, auto& /*field*/) {
        if (option.field.name == "micro_batch") alias = option.alias;
      },
      request);
  EXPECT_EQ(alias, "batch");
}

TEST(PlanOptions, KnowWhatTheirValuesAre) {
  EXPECT_EQ(kind_of(std::optional<std::int64_t>()), ValueKind::number);
  EXPECT_EQ(kind_of(std::optional<int>()), ValueKind::number);
  EXPECT_EQ(kind_of(std::optional<bool>()), ValueKind::choice);
  EXPECT_EQ(kind_of(std::optional<plan::Precision>()), ValueKind::choice);
  EXPECT_EQ(kind_of(std::optional<plan::RecomputePolicy>()), ValueKind::text);
}

}  // namespace
}  // namespace fourhold::api
