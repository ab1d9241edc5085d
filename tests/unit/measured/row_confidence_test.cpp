#include "fourhold/measured/row_confidence.h"

#include <cmath>

#include <gtest/gtest.h>

namespace fourhold::measured {
namespace {

RowResult row(std::string model, double predicted, double measured) {
  RowResult result;
  result.source = "s";
  result.model = std::move(model);
  result.profile = "p";
  result.generation = "g";
  result.comparisons.push_back({.metric = Metric::memory_reserved,
                                .predicted = predicted,
                                .measured = measured,
                                .set_apart = ""});
  return result;
}

// Ten runs of model a took 1 to 1.9 times what was predicted, ten of b twice.
std::vector<RowResult> twenty_rows() {
  std::vector<RowResult> rows;
  for (int i = 0; i < 10; ++i) {
    rows.push_back(row("a", 10, 10 + i));
    rows.push_back(row("b", 10, 20));
  }
  return rows;
}

TEST(RowConfidence, ResidualsAreOfEachModelAndLeaveOutWhatStandsApart) {
  std::vector<RowResult> rows = twenty_rows();
  rows.push_back(row("a", 10, 1000));
  rows.back().comparisons.front().set_apart = "known to be wrong";
  const confidence::ResidualTable table = residuals_of(rows);
  ASSERT_EQ(table.entries().size(), 2U);
  EXPECT_EQ(table.entries()[0].model, "a");
  EXPECT_EQ(table.entries()[0].rows, 10);
  EXPECT_NEAR(table.entries()[0].log_ratios.back(), std::log(1.9), 1e-4);
}

TEST(RowConfidence, ARowIsJudgedByTheOtherModels) {
  const confidence::ResidualTable table = residuals_of(twenty_rows());
  RowConfidence sureness(table);
  RowResult of_a = row("a", 10, 25);
  of_a.predicted_fit = true;
  of_a.needed_gib = 10;
  of_a.usable_gib = 19;
  sureness.judge(of_a);
  // b took twice as much, always: neither the measurement nor the device is within that, and ten
  // runs show no less than 1/11.
  EXPECT_DOUBLE_EQ(of_a.comparisons.front().interval->low, 10);
  EXPECT_NEAR(of_a.comparisons.front().interval->middle, 20, 0.01);
  EXPECT_NEAR(of_a.comparisons.front().interval->high, 20, 0.01);
  EXPECT_FALSE(of_a.comparisons.front().is_covered());
  EXPECT_NEAR(*of_a.fit_probability, 1.0 / 11, 1e-12);
  // A third model is judged by both, each a half of it.
  RowResult of_c = of_a;
  of_c.model = "c";
  of_c.usable_gib = 19.5;
  of_c.comparisons.front().measured = 15;
  sureness.judge(of_c);
  EXPECT_TRUE(of_c.comparisons.front().is_covered());
  EXPECT_NEAR(*of_c.fit_probability, 0.5, 1e-9);  // all of a, none of b
}

}  // namespace
}  // namespace fourhold::measured
