#include "fourhold/confidence/residual_mixture.h"

#include <cmath>

#include <gtest/gtest.h>

namespace fourhold::confidence {
namespace {

// Quantiles at 0, 1/4 ... 1.
const ResidualPart kEven{.weight = 1, .log_ratios = {0, 1, 2, 3, 4}};

TEST(ResidualMixture, IsLinearBetweenTheQuantilesOfOnePart) {
  const ResidualMixture one({kEven});
  EXPECT_DOUBLE_EQ(one.share_up_to(-0.1), 0);
  EXPECT_DOUBLE_EQ(one.share_up_to(1), 0.25);
  EXPECT_DOUBLE_EQ(one.share_up_to(2.5), 0.625);  // half way from 1/2 to 3/4
  EXPECT_DOUBLE_EQ(one.share_up_to(4), 1);
  EXPECT_DOUBLE_EQ(one.quantile(0), 0);
  EXPECT_DOUBLE_EQ(one.quantile(0.9), 3.6);
  EXPECT_DOUBLE_EQ(one.quantile(1), 4);
}

TEST(ResidualMixture, WeighsPartsWhateverTheirLength) {
  // Three quarters of the runs at 10, whichever of the others one takes.
  const ResidualMixture two({kEven, {.weight = 3, .log_ratios = {10}}});
  EXPECT_DOUBLE_EQ(two.share_up_to(4), 0.25);
  EXPECT_DOUBLE_EQ(two.share_up_to(9.9), 0.25);
  EXPECT_DOUBLE_EQ(two.share_up_to(10), 1);
  EXPECT_DOUBLE_EQ(two.quantile(0.125), 2);  // the middle of the even ones
  EXPECT_DOUBLE_EQ(two.quantile(0.5), 10);
}

TEST(ResidualMixture, QuantileAndShareAreInverseToEachOther) {
  const ResidualMixture mixed({kEven, {.weight = 0.5, .log_ratios = {-1, 0.5, 6}}});
  for (const double share : {0.01, 0.1, 0.5, 0.8, 0.9, 0.99}) {
    EXPECT_NEAR(mixed.share_up_to(mixed.quantile(share)), share, 1e-12);
  }
}

TEST(ResidualMixture, CountsEqualRunsWhole) {
  const ResidualMixture equal({{.weight = 1, .log_ratios = {1, 1, 1, 5}}});
  EXPECT_DOUBLE_EQ(equal.share_up_to(0.999), 0);
  EXPECT_NEAR(equal.share_up_to(1), 2.0 / 3, 1e-15);  // quantiles at 0, 1/3 and 2/3 are 1
  EXPECT_DOUBLE_EQ(equal.quantile(0.5), 1);
}

TEST(ResidualMixture, MovesAsAWhole) {
  const ResidualMixture moved = ResidualMixture({kEven}).shifted(-2);
  EXPECT_DOUBLE_EQ(moved.quantile(0.5), 0);
  EXPECT_DOUBLE_EQ(moved.quantile(1), 2);
}

TEST(ResidualMixture, IntervalHoldsTheMiddleOfTheRuns) {
  // 10 %, 50 % and 90 % of -1 ... 3 are -0.6, 1 and 2.6.
  const Interval interval = interval_of(ResidualMixture({kEven}).shifted(-1), 100);
  EXPECT_NEAR(interval.low, 100 * std::exp(-0.6), 1e-9);
  EXPECT_NEAR(interval.middle, 100 * std::exp(1), 1e-9);
  EXPECT_NEAR(interval.high, 100 * std::exp(2.6), 1e-9);
}

TEST(ResidualMixture, IntervalHoldsThePredictionWhereMostRunsTookMoreOrLess) {
  // Of -0.2 ... 3.8 the middle 80 % begin at 0.2; 5 % lie up to 0, and 85 % up to 3.2.
  const Interval more = interval_of(ResidualMixture({kEven}).shifted(-0.2), 100);
  EXPECT_DOUBLE_EQ(more.low, 100);
  EXPECT_NEAR(more.high, 100 * std::exp(3.2), 1e-9);
  // The mirror image: -3.8 ... 0.2.
  const Interval less = interval_of(ResidualMixture({kEven}).shifted(-3.8), 100);
  EXPECT_NEAR(less.low, 100 * std::exp(-3.2), 1e-9);
  EXPECT_DOUBLE_EQ(less.high, 100);
  // All runs took more: four of five of them, and the prediction.
  const Interval all = interval_of(ResidualMixture({kEven}).shifted(1), 100);
  EXPECT_DOUBLE_EQ(all.low, 100);
  EXPECT_NEAR(all.high, 100 * std::exp(4.2), 1e-9);
}

TEST(ResidualMixture, ProbabilityIsTheShareOfRunsWithinTheLimit) {
  // Runs took e^0 to e^4 times what was predicted: e^3 times is three quarters of them.
  EXPECT_NEAR(probability_within(ResidualMixture({kEven}), 2, 2 * std::exp(3.0)), 0.75, 1e-12);
  EXPECT_DOUBLE_EQ(probability_within(ResidualMixture({kEven}), 2, 1), 0);
}

}  // namespace
}  // namespace fourhold::confidence
