#include "fourhold/measured/knowledge.h"

#include <gtest/gtest.h>

#include "fourhold/base/error.h"

namespace fourhold::measured {
namespace {

constexpr const char* kHeader =
    "source,metric,knowledge,constants,left_out_median_percent,left_out_p90_percent\n";

RowResult row(const char* source, Metric metric, double predicted) {
  RowResult result;
  result.source = source;
  result.comparisons.push_back(
      {.metric = metric, .predicted = predicted, .measured = 100, .set_apart = ""});
  return result;
}

TEST(Knowledge, TellsRowsApartByWhatTheConstantsSaw) {
  const FittedSources fitted(std::string(kHeader) + "a,step_time,fitted,one,7.5,20\n",
                             "fitted.csv");
  EXPECT_EQ(fitted.of("a", Metric::step_time), Knowledge::fitted);
  EXPECT_EQ(fitted.of("a", Metric::memory_reserved), Knowledge::never_fitted);
  const Record record =
      record_of({row("a", Metric::step_time, 110), row("a", Metric::step_time, 130),
                 row("a", Metric::memory_reserved, 90), row("b", Metric::step_time, 60)});
  const std::vector<KnowledgeLine> lines = fitted.lines(record);
  ASSERT_EQ(lines.size(), 3U);  // memory never fitted, then time fitted and not
  EXPECT_TRUE(lines[0].is_memory);
  EXPECT_NEAR(lines[0].figures.bias, -10, 1e-9);
  EXPECT_EQ(lines[1].knowledge, Knowledge::fitted);
  EXPECT_NEAR(lines[1].figures.median_abs, 20, 1e-9);
  EXPECT_NEAR(lines[2].figures.median_abs, 40, 1e-9);
  ASSERT_EQ(fitted.left_out(record).size(), 1U);
  EXPECT_DOUBLE_EQ(fitted.left_out(record)[0].median_percent, 7.5);
}

TEST(Knowledge, RefusesWhatItCannotRead) {
  const auto fault = [](const std::string& line) {
    try {
      const FittedSources fitted(kHeader + line, "fitted.csv");
    } catch (const Error& error) {
      return error.where() + " " + error.what();
    }
    return std::string();
  };
  EXPECT_EQ(fault("a,speed,fitted,,,\n"), "fitted.csv:2:3 'speed' is no metric");
  EXPECT_EQ(fault("a,memory,known,,,\n"), "fitted.csv:2:10 'known' is no knowledge");
  EXPECT_EQ(fault("a,memory,fitted,,x,\n"), "fitted.csv:2:18 'x' is no percentage");
  EXPECT_EQ(fault("a,memory\n"), "fitted.csv:2:1 has 2 fields, not 6");
}

TEST(Knowledge, TheTableThatShipsIsRead) {
  const FittedSources fitted(fitted_text(), "fitted.csv");
  EXPECT_EQ(fitted.of("nanotron", Metric::step_time), Knowledge::fitted);
  EXPECT_EQ(fitted.of("nanotron", Metric::memory_reserved), Knowledge::never_fitted);
}

}  // namespace
}  // namespace fourhold::measured
