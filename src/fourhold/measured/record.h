// The record of many rows: errors by source, who fits, and how well plans are ranked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/confidence/residual_mixture.h"
#include "fourhold/measured/comparison.h"
#include "fourhold/measured/statistics.h"

namespace fourhold::measured {

// Which rows of a source a line is about.
enum class RowClass : std::uint8_t { all, dense, experts, stalled, not_stalled, set_apart };
inline constexpr std::array<std::string_view, 6> kRowClassNames{
    "all", "dense", "experts", "stalled", "not_stalled", "set_apart"};

struct SummaryLine {
  std::string source;
  Metric metric = Metric::step_time;
  RowClass rows = RowClass::all;
  ErrorFigures figures;              // count 0: nothing was compared
  std::optional<double> coverage{};  // share of rows in their interval; absent without intervals
  std::int64_t skipped = 0;          // rows of the source, whatever they publish
};

struct FitTable {
  std::int64_t true_fit = 0;
  std::int64_t true_oom = 0;
  std::int64_t false_fit = 0;  // said to fit, ran out
  std::int64_t false_oom = 0;
  std::int64_t set_apart = 0;
  [[nodiscard]] std::int64_t count() const { return true_fit + true_oom + false_fit + false_oom; }
  [[nodiscard]] double right_share() const;      // of all
  [[nodiscard]] double false_fit_share() const;  // of those said to fit
};

// How many rows lie within the interval that other models' runs gave.
struct Coverage {
  std::int64_t rows = 0;
  std::int64_t covered = 0;
  [[nodiscard]] double share() const {
    return rows == 0 ? 0 : static_cast<double>(covered) / static_cast<double>(rows);
  }
};

// Plans of one model on the same devices, ranked by seconds per sequence.
struct SweepRanking {
  std::string source;
  std::string sweep;
  std::int64_t rows = 0;
  std::optional<double> rank_correlation;  // absent: all alike
  double loss_percent = 0;  // measured, of the plan predicted as best over the best there is
};

struct SkippedReason {
  std::string source;
  std::string reason;
  std::int64_t rows = 0;
};

struct Record {
  std::vector<RowResult> rows;
  std::vector<SummaryLine> summary;  // by source and metric, all rows but those set apart
  std::vector<SummaryLine> classes;  // kinds of rows where a source has both; set apart
  FitTable fit;
  FitTable sure_fit;  // where a plan is said to fit when that is probable enough
  Coverage coverage;  // of sources with kLeastCoverageRows rows or more of a metric, pooled
  std::vector<SweepRanking> ranking;
  std::vector<SkippedReason> skipped;
};

// Sweeps of fewer rows are not ranked: by chance they are right too often.
inline constexpr std::int64_t kLeastSweepRows = 4;

// A share of fewer rows says little.
inline constexpr std::int64_t kLeastCoverageRows = 100;

// `least_probability`: from which probability on a plan counts as one that fits in `sure_fit`.
[[nodiscard]] Record record_of(std::vector<RowResult> rows,
                               double least_probability = confidence::kIntervalCoverage);

}  // namespace fourhold::measured
