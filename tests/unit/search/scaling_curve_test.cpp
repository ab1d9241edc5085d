#include "fourhold/search/scaling_curve.h"

#include <gtest/gtest.h>

#include "fourhold/search/pareto.h"
#include "tests/unit/search/small_problem.h"

namespace fourhold {
namespace {

using test::SmallProblem;

constexpr std::int64_t kPlenty = 10'000'000;  // bytes: everything fits

TEST(ScalingCurve, CountsDoubleUpToTheLast) {
  EXPECT_EQ(search::doubling_counts(1), std::vector<std::int64_t>{1});
  EXPECT_EQ(search::doubling_counts(12), (std::vector<std::int64_t>{1, 2, 4, 8, 12}));
}

TEST(ScalingCurve, KeepsTheSplitAndChoosesTheRestAnew) {
  const SmallProblem problem("llama", "standard", {.devices = 8, .batch = 16, .usable = kPlenty});
  plan::Plan split;
  split.tp = 2;
  const auto points = search::scaling_curve(problem.request(), split, 1.0, {1, 2, 4, 8});
  ASSERT_EQ(points.size(), 4U);
  EXPECT_FALSE(points[0].plan);  // one device cannot be split in two
  for (std::size_t i = 1; i < points.size(); ++i) {
    ASSERT_TRUE(points[i].plan) << points[i].devices;
    const plan::Plan& plan = points[i].plan->plan;
    EXPECT_EQ(plan.tp, 2);
    EXPECT_EQ(plan.pp * plan.cp * plan.ep, 1);
    EXPECT_EQ(plan.devices(), points[i].devices);
    EXPECT_EQ(plan.global_batch, 16);
    EXPECT_DOUBLE_EQ(points[i].tokens_per_second, 16 * 32 / points[i].plan->step_seconds);
    EXPECT_LE(points[i].speedup_kept, 1);
    EXPECT_DOUBLE_EQ(points[i].speedup,
                     points[i].speedup_kept * static_cast<double>(points[i].devices));
  }
}

TEST(ScalingCurve, SaysWhereNothingFits) {
  const SmallProblem problem("llama", "standard", {.devices = 8, .batch = 16, .usable = 1000});
  for (const auto& point : search::scaling_curve(problem.request(), {}, 1.0, {1, 2, 4, 8})) {
    EXPECT_FALSE(point.plan);
  }
}

TEST(Deadline, IsMetByTheFewestDevicesThatCan) {
  const SmallProblem problem("llama", "standard", {.devices = 1, .batch = 16, .usable = kPlenty});
  const auto curve = search::scaling_curve(problem.request(), {}, 1e9, {1, 2, 4, 8, 16});
  // A run of one step's tokens, allowed just what 4 devices need.
  const double tokens = 16 * 32;
  const double days = curve[2].plan->step_seconds * (1 + 1e-9) / 86400;
  const auto found = search::devices_for_deadline(problem.request(), {}, 0, tokens, days);
  ASSERT_TRUE(found);
  for (const auto& point : curve) {
    if (point.plan->step_seconds <= days * 86400) {
      EXPECT_EQ(found->devices, point.devices);
      break;
    }
  }
  EXPECT_FALSE(search::devices_for_deadline(problem.request(), {}, 0, tokens, days / 1e6));
}

// Plans that are no worse in memory, time and devices, and better in one.
TEST(Pareto, HoldsWhatNoPlanBeats) {
  const SmallProblem problem("llama", "standard", {.devices = 4, .batch = 8, .usable = kPlenty});
  const std::vector<std::int64_t> counts{1, 2, 4};
  const auto front = search::pareto_front(problem.request(), counts);
  ASSERT_FALSE(front.empty());
  std::size_t on_the_front = 0;
  struct Point {
    std::int64_t devices, bytes;
    double seconds;
  };
  std::vector<Point> all;
  for (const std::int64_t devices : counts) {
    const SmallProblem one("llama", "standard",
                           {.devices = devices, .batch = 8, .usable = kPlenty});
    for (const test::BrutePlan& plan : test::all_plans(one)) {
      all.push_back({devices, plan.live_peak_bytes, plan.step_seconds});
    }
  }
  const auto beaten = [&](const Point& point) {
    return std::any_of(all.begin(), all.end(), [&](const Point& other) {
      return other.devices <= point.devices && other.bytes <= point.bytes &&
             other.seconds <= point.seconds * (1 - 1e-12) + 0 &&
             (other.devices < point.devices || other.bytes < point.bytes ||
              other.seconds < point.seconds);
    });
  };
  for (const auto& point : front) {
    EXPECT_FALSE(beaten({point.devices, point.live_peak_bytes, point.plan.step_seconds}));
  }
  for (const Point& point : all) {
    const bool held = std::any_of(front.begin(), front.end(), [&](const auto& other) {
      return other.devices <= point.devices && other.live_peak_bytes <= point.bytes &&
             other.plan.step_seconds <= point.seconds * (1 + 1e-12);
    });
    EXPECT_TRUE(held);
    on_the_front += held ? 1 : 0;
  }
  EXPECT_EQ(on_the_front, all.size());
}

}  // namespace
}  // namespace fourhold
