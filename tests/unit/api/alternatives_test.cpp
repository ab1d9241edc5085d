#include "fourhold/api/alternatives.h"

#include <gtest/gtest.h>

namespace fourhold::api {
namespace {

TimedPlan timed(double seconds, std::int64_t bytes, std::int64_t cp, std::int64_t dp) {
  TimedPlan out;
  out.plan.cp = cp;
  out.plan.dp = dp;
  out.step_seconds = seconds;
  out.device_bytes = bytes;
  return out;
}

TEST(Alternatives, PlansThatCostTheSameAreOneLine) {
  const auto list = alternatives_of({timed(2.90, 7000, 1, 8), timed(2.90, 7000, 2, 4),
                                     timed(2.91, 6950, 4, 2), timed(2.92, 4900, 1, 8)},
                                    10);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].shown.plan.dp, 8);
  EXPECT_EQ(list[0].alike, 2);
  EXPECT_EQ(list[1].shown.device_bytes, 4900);
  EXPECT_EQ(list[1].alike, 0);
}

TEST(Alternatives, TheFastestStaysFirstBesideASimplerOneOfItsKind) {
  const auto list = alternatives_of(
      {timed(2.90, 7000, 2, 4), timed(2.91, 7000, 4, 2), timed(2.92, 7000, 1, 8)}, 10);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].shown.plan.cp, 2);
  EXPECT_EQ(list[1].shown.plan.cp, 1);
  EXPECT_EQ(list[1].alike, 1);
}

TEST(Alternatives, LaterGroupsAreShownByTheirSimplest) {
  const auto list = alternatives_of(
      {timed(2.00, 7000, 1, 8), timed(2.90, 7000, 2, 4), timed(2.92, 7000, 1, 8)}, 10);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[1].shown.plan.cp, 1);
  EXPECT_DOUBLE_EQ(list[1].shown.step_seconds, 2.92);
}

TEST(Alternatives, MoreLayersRecomputedAreNoOtherPlan) {
  TimedPlan none = timed(2.00, 7000, 1, 8);
  TimedPlan some = timed(2.10, 6000, 1, 8);
  some.plan.recompute = plan::recompute_from_string("full:2");
  TimedPlan more = timed(2.20, 5000, 1, 8);
  more.plan.recompute = plan::recompute_from_string("full:4");
  TimedPlan selective = timed(2.30, 6500, 1, 8);
  selective.plan.recompute = plan::recompute_from_string("selective");
  const auto list = alternatives_of({none, some, more, selective}, 10);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].alike, 2);
  EXPECT_DOUBLE_EQ(list[1].shown.step_seconds, 2.30);
  // What costs the same as one of them is none, either.
  EXPECT_EQ(alternatives_of({none, some, timed(2.11, 6010, 2, 4)}, 10).size(), 1U);
  // Another split that recomputes is another plan.
  more.plan.dp = 4;
  EXPECT_EQ(alternatives_of({none, more}, 10).size(), 2U);
}

TEST(Alternatives, AtMostAsManyAsAskedFor) {
  EXPECT_EQ(
      alternatives_of({timed(1, 100, 1, 1), timed(2, 100, 1, 1), timed(3, 100, 1, 1)}, 2).size(),
      2U);
}

}  // namespace
}  // namespace fourhold::api
