#include "fourhold/measured/record.h"

#include <gtest/gtest.h>

namespace fourhold::measured {
namespace {

RowResult timed(const char* source, double predicted, double measured, double sequences = 1) {
  RowResult row;
  row.id = source;
  row.source = source;
  row.sweep = "one";
  row.sequences = sequences;
  row.comparisons.push_back(
      {.metric = Metric::step_time, .predicted = predicted, .measured = measured, .set_apart = ""});
  return row;
}

RowResult fit_row(bool predicted, bool measured, std::string apart = "") {
  RowResult row;
  row.source = "a";
  row.predicted_fit = predicted;
  row.measured_fit = measured;
  row.fit_set_apart = std::move(apart);
  return row;
}

TEST(Record, SummarisesBySourceAndLeavesOutWhatStandsApart) {
  RowResult apart = timed("a", 9, 1);
  apart.comparisons.front().set_apart = "known to be wrong";
  RowResult skipped;
  skipped.source = "a";
  skipped.skipped = "seq_len is not published";
  const Record record =
      record_of({timed("a", 11, 10), timed("a", 7, 10), apart, skipped, timed("b", 1, 1)});
  ASSERT_EQ(record.summary.size(), 2U);
  EXPECT_EQ(record.summary[0].figures.count, 2);
  EXPECT_NEAR(record.summary[0].figures.mean_abs, 20, 1e-9);  // +10 and -30
  EXPECT_NEAR(record.summary[0].figures.bias, -10, 1e-9);
  EXPECT_EQ(record.summary[0].skipped, 1);
  ASSERT_EQ(record.classes.size(), 1U);
  EXPECT_EQ(record.classes[0].rows, RowClass::set_apart);
  EXPECT_NEAR(record.classes[0].figures.bias, 800, 1e-9);
  ASSERT_EQ(record.skipped.size(), 1U);
  EXPECT_EQ(record.skipped[0].rows, 1);
}

TEST(Record, TellsDenseRowsFromExperts) {
  RowResult experts = timed("a", 2, 1);
  experts.has_experts = true;
  const Record record = record_of({timed("a", 1, 1), experts});
  ASSERT_EQ(record.classes.size(), 2U);
  EXPECT_EQ(record.classes[0].rows, RowClass::dense);
  EXPECT_EQ(record.classes[1].rows, RowClass::experts);
  EXPECT_NEAR(record.classes[1].figures.bias, 100, 1e-9);
}

TEST(Record, TellsStalledStepsFromOthers) {
  RowResult stalled = timed("a", 2, 1);
  stalled.stalls = true;
  stalled.comparisons.push_back(
      {.metric = Metric::memory_allocated, .predicted = 1, .measured = 1, .set_apart = ""});
  const Record record = record_of({timed("a", 1, 1), stalled});
  ASSERT_EQ(record.classes.size(), 2U);  // a stall is of no interest to memory
  EXPECT_EQ(record.classes[0].rows, RowClass::stalled);
  EXPECT_EQ(record.classes[1].rows, RowClass::not_stalled);
  EXPECT_NEAR(record.classes[0].figures.bias, 100, 1e-9);
}

TEST(Record, CountsWhoFits) {
  const Record record =
      record_of({fit_row(true, true), fit_row(true, true), fit_row(true, false),
                 fit_row(false, true), fit_row(false, false), fit_row(true, false, "apart")});
  EXPECT_EQ(record.fit.true_fit, 2);
  EXPECT_EQ(record.fit.false_fit, 1);
  EXPECT_EQ(record.fit.false_oom, 1);
  EXPECT_EQ(record.fit.true_oom, 1);
  EXPECT_EQ(record.fit.set_apart, 1);
  EXPECT_DOUBLE_EQ(record.fit.right_share(), 0.6);
  EXPECT_DOUBLE_EQ(record.fit.false_fit_share(), 1.0 / 3);
}

TEST(Record, CountsRowsWithinTheirIntervalWhereASourceHasEnoughOfThem) {
  std::vector<RowResult> rows;
  for (int i = 0; i < 100; ++i) {
    rows.push_back(timed("many", 10, 10 + i * 0.1));
    rows.back().comparisons.front().interval = confidence::Interval{.low = 9, .high = 17.95};
  }
  rows.push_back(timed("one", 1, 1));
  rows.back().comparisons.front().interval = confidence::Interval{.low = 2, .high = 3};
  rows.push_back(timed("none", 1, 1));
  const Record record = record_of(rows);
  ASSERT_EQ(record.summary.size(), 3U);
  EXPECT_DOUBLE_EQ(*record.summary[0].coverage, 0.8);  // 10.0 to 17.9 of 10.0 to 19.9
  EXPECT_DOUBLE_EQ(*record.summary[1].coverage, 0);
  EXPECT_FALSE(record.summary[2].coverage.has_value());
  EXPECT_EQ(record.coverage.rows, 100);  // the others are too few
  EXPECT_EQ(record.coverage.covered, 80);
}

TEST(Record, CountsWhoFitsWhereThatMustBeProbable) {
  RowResult sure = fit_row(true, true);
  sure.fit_probability = 0.95;
  RowResult unsure = fit_row(true, false);
  unsure.fit_probability = 0.8;
  RowResult refused = fit_row(false, false);  // beyond the device, whatever was measured of others
  refused.fit_probability = 0.99;
  const Record record = record_of({sure, unsure, refused, fit_row(true, true)}, 0.9);
  EXPECT_EQ(record.fit.true_fit, 2);
  EXPECT_EQ(record.fit.false_fit, 1);
  EXPECT_EQ(record.sure_fit.true_fit, 1);  // the last has no probability
  EXPECT_EQ(record.sure_fit.false_fit, 0);
  EXPECT_EQ(record.sure_fit.true_oom, 2);
}

TEST(Record, RanksPlansBySecondsOfASequence) {
  // Per sequence predicted 1, 2, 3, 0.5 and measured 1, 2, 3, 4: the predicted best is the worst.
  const Record record =
      record_of({timed("a", 1, 1), timed("a", 4, 4, 2), timed("a", 3, 3), timed("a", 1, 8, 2)});
  ASSERT_EQ(record.ranking.size(), 1U);
  EXPECT_EQ(record.ranking[0].rows, 4);
  // Ranks 2, 3, 4, 1 beside 1, 2, 3, 4: differences 1, 1, 1, 3; 1 - 6 x 12 / 60.
  EXPECT_NEAR(*record.ranking[0].rank_correlation, -0.2, 1e-12);
  EXPECT_NEAR(record.ranking[0].loss_percent, 300, 1e-9);
  EXPECT_TRUE(record_of({timed("a", 1, 1), timed("a", 2, 2), timed("a", 3, 3)}).ranking.empty());
}

}  // namespace
}  // namespace fourhold::measured
