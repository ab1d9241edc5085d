#include "fourhold/engine/optimizer/schedule.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "fourhold/base/error.h"

namespace fourhold::engine {
namespace {

Schedule arbitrary_schedule() {
  Schedule schedule;
  schedule.decay = *rc::gen::element(Decay::constant, Decay::cosine, Decay::linear);
  schedule.steps = *rc::gen::inRange<std::int64_t>(1, 2000);
  schedule.warm_up_steps = *rc::gen::inRange<std::int64_t>(0, schedule.steps + 1);
  schedule.peak = *rc::gen::inRange(1, 1000) * 1e-5;
  schedule.minimum = schedule.peak * *rc::gen::inRange(0, 101) / 100;
  check(schedule);
  return schedule;
}

// Warm-up 4 of 12 steps to 0.8, then to 0.4: step 8 is halfway down for all shapes, step 6 a
// quarter: cosine (1 + cos(pi / 4)) / 2 = 0.8536 of the way up.
TEST(Schedule, StepsByHand) {
  Schedule schedule{Decay::linear, 0.8, 0.4, 4, 12};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 1), 0.2);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 3), 0.6);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 4), 0.8);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 6), 0.7);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 8), 0.6);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 12), 0.4);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 13), 0.4);
  schedule.decay = Decay::cosine;
  EXPECT_NEAR(learning_rate(schedule, 6), 0.4 + 0.4 * 0.85355339, 1e-9);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 8), 0.6);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 12), 0.4);
  schedule.decay = Decay::constant;
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 12), 0.8);
}

TEST(Schedule, WithoutAWarmUpTheFirstStepIsThePeakAndTheLastTheMinimum) {
  const Schedule schedule{Decay::cosine, 1, 0.1, 0, 5};
  EXPECT_EQ(learning_rate(schedule, 1), 1);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 3), 0.55);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 5), 0.1);
}

TEST(Schedule, TheDefaultWarmUpIsATenthOfTheRunAndAtMostAHundredSteps) {
  EXPECT_EQ(default_warm_up(9), 0);
  EXPECT_EQ(default_warm_up(200), 20);
  EXPECT_EQ(default_warm_up(1000), 100);
  EXPECT_EQ(default_warm_up(1000000), 100);
}

RC_GTEST_PROP(Schedule, RisesToThePeakThenNeverRisesAgain, ()) {
  const Schedule schedule = arbitrary_schedule();
  double last = 0;
  for (std::int64_t step = 1; step <= schedule.steps; ++step) {
    const double rate = learning_rate(schedule, step);
    RC_ASSERT(rate >= 0 && rate <= schedule.peak);
    if (step <= schedule.warm_up_steps) RC_ASSERT(rate > last);
    if (step > schedule.warm_up_steps && step > 1) {
      RC_ASSERT(rate <= last);
      RC_ASSERT(rate >= schedule.minimum * (1 - 1e-15));
    }
    last = rate;
  }
  RC_ASSERT(learning_rate(schedule, std::max<std::int64_t>(1, schedule.warm_up_steps)) ==
            schedule.peak);
}

// A cosine and a line cover the same area.
RC_GTEST_PROP(Schedule, CosineAndLinearHaveTheSameMean, ()) {
  Schedule schedule = arbitrary_schedule();
  double cosine = 0;
  double linear = 0;
  for (std::int64_t step = 1; step <= schedule.steps; ++step) {
    schedule.decay = Decay::cosine;
    cosine += learning_rate(schedule, step);
    schedule.decay = Decay::linear;
    linear += learning_rate(schedule, step);
  }
  RC_ASSERT(std::abs(cosine - linear) <= 1e-9 * linear);
}

std::string where_of(const Schedule& schedule) {
  try {
    check(schedule);
  } catch (const Error& error) {
    return error.where();
  }
  return "accepted";
}

TEST(Schedule, RefusesWhatIsNoSchedule) {
  EXPECT_EQ(where_of({Decay::cosine, 0.1, 0.01, 2, 10}), "accepted");
  EXPECT_EQ(where_of({Decay::cosine, 0.1, 0.01, 0, 0}), "--steps");
  EXPECT_EQ(where_of({Decay::cosine, 0, 0, 2, 10}), "--lr");
  EXPECT_EQ(where_of({Decay::cosine, std::nan(""), 0, 2, 10}), "--lr");
  EXPECT_EQ(where_of({Decay::cosine, std::numeric_limits<double>::infinity(), 0, 2, 10}), "--lr");
  EXPECT_EQ(where_of({Decay::cosine, -0.1, 0, 2, 10}), "--lr");
  // 2^-126 = 1.1755e-38 is the least normal number of fp32.
  EXPECT_EQ(where_of({Decay::cosine, 1.17e-38, 0, 2, 10}), "--lr");
  EXPECT_EQ(where_of({Decay::cosine, 1.18e-38, 0, 2, 10}), "accepted");
  EXPECT_EQ(where_of({Decay::cosine, 0.1, 0.2, 2, 10}), "--min-lr");
  EXPECT_EQ(where_of({Decay::cosine, 0.1, 0.01, 11, 10}), "--warm-up");
}

}  // namespace
}  // namespace fourhold::engine
