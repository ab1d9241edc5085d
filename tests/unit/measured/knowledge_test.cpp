#include "fourhold/measured/knowledge.h"

#include <gtest/gtest.h>

#include "fourhold/base/error.h"

namespace fourhold::measured {
namespace {

constexpr const char* kHeader = "source,metric,knowledge,constants\n";

RowResult row(const char* source, Metric metric, double predicted) {
  RowResult result;
  result.source = source;
  result.comparisons.push_back(
      {.metric = metric, .predicted = predicted, .measured = 100, .set_apart = ""});
  return result;
}

TEST(Knowledge, TellsRowsApartByWhatTheConstantsSaw) {
  const FittedSources fitted(std::string(kHeader) + "a,step_time,fitted,one\n", "fitted.csv");
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
}

TEST(Knowledge, ErrorsOfModelsLeftOutAreThoseTheFitWrote) {
  const Record record = record_of({row("a", Metric::step_time, 110)});
  const std::vector<LeftOutLine> lines = left_out_errors(
      R"({"errors_percent": {"a": {"left_out": {"rows": 3, "median": 7.5, "p90": 20}},
                             "b": {"left_out": {"rows": 3, "median": 1, "p90": 2}}}})",
      "time.json", record);
  ASSERT_EQ(lines.size(), 1U);  // there are no rows of b
  EXPECT_EQ(lines[0].source, "a");
  EXPECT_DOUBLE_EQ(lines[0].median_percent, 7.5);
  EXPECT_DOUBLE_EQ(lines[0].p90_percent, 20);
  EXPECT_THROW(static_cast<void>(left_out_errors("{}", "time.json", record)), Error);
  EXPECT_FALSE(left_out_errors(time_calibration_text(), "time.json",
                               record_of({row("nanotron", Metric::step_time, 110)}))
                   .empty());
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
  EXPECT_EQ(fault("a,speed,fitted,\n"), "fitted.csv:2:3 'speed' is no metric");
  EXPECT_EQ(fault("a,memory,known,\n"), "fitted.csv:2:10 'known' is no knowledge");
  EXPECT_EQ(fault("a,memory\n"), "fitted.csv:2:1 has 2 fields, not 4");
}

TEST(Knowledge, TheTableThatShipsIsRead) {
  const FittedSources fitted(fitted_text(), "fitted.csv");
  EXPECT_EQ(fitted.of("nanotron", Metric::step_time), Knowledge::fitted);
  EXPECT_EQ(fitted.of("nanotron", Metric::memory_reserved), Knowledge::never_fitted);
}

}  // namespace
}  // namespace fourhold::measured
