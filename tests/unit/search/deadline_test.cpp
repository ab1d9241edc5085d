#include "fourhold/search/deadline.h"

#include <algorithm>
#include <limits>
#include <map>

#include <gtest/gtest.h>

#include "fourhold/predict/scaling.h"
#include "tests/unit/search/small_problem.h"

namespace fourhold {
namespace {

using test::SmallProblem;

constexpr std::int64_t kPlenty = 10'000'000;  // bytes: everything fits
constexpr std::int64_t kMostDevices = 64;

// The least seconds of any legal plan on that many devices, plan by plan; infinite where none is.
double least_seconds(std::int64_t devices) {
  const SmallProblem problem("llama", "standard",
                             {.devices = devices, .batch = 16, .usable = kPlenty});
  double least = std::numeric_limits<double>::infinity();
  for (const test::BrutePlan& plan : test::all_plans(problem)) {
    if (plan.verdict == predict::VerdictClass::fits) least = std::min(least, plan.step_seconds);
  }
  return least;
}

TEST(DeviceCounts, AreAnyWithinANodeAndWholeNodesBeyond) {
  EXPECT_EQ(search::next_device_count(1, 4), 2);
  EXPECT_EQ(search::next_device_count(3, 4), 4);
  EXPECT_EQ(search::next_device_count(4, 4), 8);
  EXPECT_EQ(search::next_device_count(9, 4), 12);
}

TEST(FewestDevices, AreThoseOfTheFirstCountOnWhichAPlanIsFastEnough) {
  const SmallProblem problem("llama", "standard", {.devices = 4, .batch = 16, .usable = kPlenty});
  // Deadlines that each of these counts just meets, by brute force over all counts from one on.
  std::map<std::int64_t, double> least;
  for (const std::int64_t devices : {1, 2, 3, 4, 8, 12}) least[devices] = least_seconds(devices);
  for (const auto& [meets, fastest] : least) {
    if (fastest == std::numeric_limits<double>::infinity()) continue;
    const double seconds = fastest * (1 + 1e-9);
    std::int64_t expected = 1;
    while (least.at(expected) > seconds) expected = search::next_device_count(expected, 4);
    const search::DeadlineAnswer found = search::fewest_devices(problem.request(), 0, seconds);
    ASSERT_TRUE(found.point) << meets;
    EXPECT_EQ(found.point->devices, expected);
    EXPECT_EQ(found.point->plan->plan.devices(), expected);
    EXPECT_LE(found.point->plan->step_seconds, seconds);
    EXPECT_EQ(found.searched_to, expected);
  }
}

TEST(FewestDevices, StartWhereOneDevicesSpeedTimesTheirNumberWouldDo) {
  const SmallProblem problem("llama", "standard", {.devices = 4, .batch = 16, .usable = kPlenty});
  const SmallProblem one("llama", "standard", {.devices = 1, .batch = 16, .usable = kPlenty});
  const predict::SingleDevice single =
      predict::single_device(*one.request().space.config, test::all_plans(one).front().plan,
                             one.profile(), one.request().cluster);
  const double seconds = least_seconds(3) * (1 + 1e-9);
  const search::DeadlineAnswer all = search::fewest_devices(problem.request(), 0, seconds);
  const search::DeadlineAnswer bounded =
      search::fewest_devices(problem.request(), single.step_seconds, seconds);
  ASSERT_TRUE(all.point);
  ASSERT_TRUE(bounded.point);
  EXPECT_EQ(bounded.point->devices, all.point->devices);
  EXPECT_GE(bounded.searched_from, all.searched_from);
}

TEST(FewestDevices, SayHowFarTheyWereSearchedWhereNoneIsFastEnough) {
  const SmallProblem problem("llama", "standard", {.devices = 4, .batch = 16, .usable = kPlenty});
  const search::DeadlineAnswer found = search::fewest_devices(problem.request(), 0, 1e-12);
  EXPECT_FALSE(found.point);
  EXPECT_EQ(found.searched_from, 1);
  EXPECT_EQ(found.searched_to, kMostDevices);  // beyond, devices keep less than 1/64 of their speed
}

}  // namespace
}  // namespace fourhold
