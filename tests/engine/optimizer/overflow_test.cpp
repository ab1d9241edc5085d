#include "fourhold/engine/optimizer/overflow.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "fourhold/base/error.h"
#include "tests/engine/optimizer/owned_shard.h"

namespace fourhold::engine {
namespace {

using plan::Optimizer;
using plan::Precision;

Hyperparameters of(Optimizer optimizer) {
  Hyperparameters result;
  result.optimizer = optimizer;
  return result;
}

TEST(Overflow, AHealthyRunNeedsNoCheck) {
  for (const Optimizer optimizer : {Optimizer::adamw, Optimizer::lion, Optimizer::sgd_momentum}) {
    const auto factors = step_factors(of(optimizer), WeightDecay::decayed, 1, 1e-2, 1);
    EXPECT_FALSE(may_overflow(factors, {.weight = 100, .moment1 = 1000, .gradient = 1e6F}));
  }
}

TEST(Overflow, ValuesThatAreNotFiniteOrCouldDivideByZeroNeedACheck) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Optimizer optimizer : {Optimizer::adamw, Optimizer::lion, Optimizer::sgd_momentum}) {
    const auto factors = step_factors(of(optimizer), WeightDecay::decayed, 1, 1e-2, 1);
    for (const float bad : {nan, infinity}) {
      EXPECT_TRUE(may_overflow(factors, {.weight = bad, .moment1 = 1, .gradient = 1}));
      EXPECT_TRUE(may_overflow(factors, {.weight = 1, .moment1 = bad, .gradient = 1}));
      EXPECT_TRUE(may_overflow(factors, {.weight = 1, .moment1 = 1, .gradient = bad}));
    }
  }
  Hyperparameters no_epsilon;
  no_epsilon.epsilon = 0;
  EXPECT_TRUE(may_overflow(step_factors(no_epsilon, WeightDecay::none, 1, 1e-2, 1), {1, 1, 1}));
}

// The promise: where it says no, no step of any precision makes anything but finite numbers.
// Magnitudes are drawn over the whole range of fp32.
RC_GTEST_PROP(Overflow, WhatNeedsNoCheckStaysFinite, ()) {
  const Optimizer optimizer =
      *rc::gen::element(Optimizer::adamw, Optimizer::lion, Optimizer::sgd_momentum);
  const Precision precision =
      *rc::gen::element(Precision::fp32, Precision::bf16, Precision::bf16_split,
                        Precision::bf16_kahan, Precision::bf16_sr, Precision::bf16_pure);
  const auto power = [](int most) { return std::ldexp(1.0F, *rc::gen::inRange(-140, most)); };
  const float weight = power(128);
  const float moment1 = power(128);
  const float gradient = power(128);
  const double rate = std::ldexp(1.0, *rc::gen::inRange(-30, 20));
  const auto factors = step_factors(of(optimizer), WeightDecay::decayed,
                                    *rc::gen::inRange<std::int64_t>(1, 1000), rate, 1);
  RC_PRE(!may_overflow(factors, {weight, moment1, gradient}));
  OwnedShard shard(precision, {weight, -weight, weight, -weight});
  shard.set_gradient({gradient, -gradient, -gradient, gradient});
  shard.view().moment1.as<float>()[0] = moment1;
  shard.view().moment1.as<float>()[1] = -moment1;
  shard.view().moment1.as<float>()[2] = -moment1;
  shard.view().moment1.as<float>()[3] = moment1;
  RC_ASSERT(update(shard.view(), factors, {precision}, Pass::write).nonfinite == 0);
}

std::string text_of(const Error& error) {
  return error.where() + ": " + error.what() + " / " + error.hint();
}

TEST(Overflow, AStopNamesTheStepAndTheWeightsThatAreKept) {
  try {
    require_finite_loss(std::nan(""), 17);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::answer_is_no);
    EXPECT_EQ(text_of(error),
              "step 17: the loss is not a number / nothing of this step was written: the weights "
              "are those of step 16. Try a lower learning rate, a longer warm-up or clipping of "
              "gradients");
  }
  require_finite_loss(1e30, 17);

  SquaredNorm norm;
  require_finite_gradient(norm, 3);
  norm.nonfinite = 12;
  try {
    require_finite_gradient(norm, 3);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "step 3");
    EXPECT_STREQ(error.what(), "12 gradient values are infinite or not numbers");
  }

  UpdateReport report;
  report.elements = 100;
  require_finite_update(report, 4);
  report.nonfinite = 1;
  try {
    require_finite_update(report, 4);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "1 of 100 weights or moments would become infinite or not numbers");
  }
}

}  // namespace
}  // namespace fourhold::engine
