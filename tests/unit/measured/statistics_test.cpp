#include "fourhold/measured/statistics.h"

#include <gtest/gtest.h>

namespace fourhold::measured {
namespace {

TEST(Statistics, FiguresByHand) {
  // |errors| sorted: 1, 2, 4, 9. Median between 2 and 4; p90 at position 2.7 between 4 and 9.
  const ErrorFigures figures = figures_of({-4, 1, 9, -2});
  EXPECT_EQ(figures.count, 4);
  EXPECT_DOUBLE_EQ(figures.median_abs, 3);
  EXPECT_DOUBLE_EQ(figures.mean_abs, 4);
  EXPECT_DOUBLE_EQ(figures.p90_abs, 7.5);
  EXPECT_DOUBLE_EQ(figures.worst_abs, 9);
  EXPECT_DOUBLE_EQ(figures.bias, 1);
}

TEST(Statistics, MedianOfAnOddCountIsTheMiddle) {
  EXPECT_DOUBLE_EQ(figures_of({-5, 1, 3}).median_abs, 3);
  EXPECT_DOUBLE_EQ(figures_of({-5}).p90_abs, 5);
  EXPECT_EQ(figures_of({}).count, 0);
}

TEST(Statistics, QuantileLiesBetweenNeighbours) {
  EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 0), 1);
  EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 1), 3);
  EXPECT_DOUBLE_EQ(quantile({10, 0}, 0.25), 2.5);
}

TEST(Statistics, RankCorrelationIsBlindToScale) {
  EXPECT_DOUBLE_EQ(*rank_correlation({1, 2, 3}, {10, 100, 1e9}), 1);
  EXPECT_DOUBLE_EQ(*rank_correlation({1, 2, 3}, {9, 5, 1}), -1);
  // Differences of ranks 0, 1, 1, 0: 1 - 6 x 2 / (4 x 15).
  EXPECT_DOUBLE_EQ(*rank_correlation({1, 2, 3, 4}, {1, 3, 2, 4}), 0.8);
}

TEST(Statistics, TiesShareTheMeanOfTheirRanks) {
  // Ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4: deviations -1.5, 0, 0, 1.5 and -1.5, -0.5, 0.5, 1.5;
  // 4.5 / sqrt(4.5 x 5).
  EXPECT_NEAR(*rank_correlation({1, 2, 2, 3}, {1, 2, 3, 4}), 0.9486832980505138, 1e-15);
  EXPECT_FALSE(rank_correlation({1, 1, 1}, {1, 2, 3}));
  EXPECT_FALSE(rank_correlation({1}, {1}));
}

}  // namespace
}  // namespace fourhold::measured
