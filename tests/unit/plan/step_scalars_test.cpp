#include "fourhold/plan/step_scalars.h"

#include <gtest/gtest.h>

namespace fourhold::plan {
namespace {

TEST(StepScalars, EachIsOneEightByteMessage) {
  for (const StepScalar& scalar : kStepScalars) {
    EXPECT_EQ(scalar.payload_bytes(), 8) << scalar.name;
  }
}

TEST(StepScalars, TokensAreCountedOverDataAndContextRanksTheOthersOverAll) {
  Plan plan;
  plan.tp = 2;
  plan.cp = 3;
  plan.dp = 4;
  plan.pp = 5;
  EXPECT_EQ(group_size(plan, kStepScalars[0].axis, 1), 3 * 4);
  EXPECT_EQ(group_size(plan, kStepScalars[1].axis, 1), 2 * 3 * 4 * 5);
  EXPECT_EQ(group_size(plan, kStepScalars[2].axis, 1), 2 * 3 * 4 * 5);
}

}  // namespace
}  // namespace fourhold::plan
