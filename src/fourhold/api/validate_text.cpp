// The answer of `fourhold validate` as text.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fourhold/api/run_text.h"
#include "fourhold/api/validate.h"
#include "fourhold/base/quantity.h"
#include "fourhold/measured/statistics.h"
#include "fourhold/report/table.h"
#include "fourhold/report/text.h"

namespace fourhold::api {
namespace {

using measured::Metric;
using measured::Record;
using measured::RowClass;
using measured::RowResult;
using measured::SummaryLine;

std::string metric_text(Metric metric) {
  constexpr std::array<std::string_view, 3> kShort{"allocated", "reserved", "step time"};
  return std::string(kShort.at(static_cast<std::size_t>(metric)));
}

// Beyond these a row is not about its run: digits say nothing, and would not fit a table.
constexpr double kMostPlainPercent = 1e5;

std::string percent(double value) {
  return std::abs(value) < kMostPlainPercent ? fmt::format("{:.1f}", value)
                                             : fmt::format("{:.0e}", value);
}
std::string signed_percent(double value) {
  return std::abs(value) < kMostPlainPercent ? fmt::format("{:+.1f}", value)
                                             : fmt::format("{:+.0e}", value);
}

// All errors of these metrics that count, over all sources.
std::vector<double> errors_of(const Record& record, std::initializer_list<Metric> metrics) {
  std::vector<double> errors;
  for (const RowResult& row : record.rows) {
    for (const measured::Comparison& one : row.comparisons) {
      const bool asked = std::find(metrics.begin(), metrics.end(), one.metric) != metrics.end();
      if (asked && one.set_apart.empty()) errors.push_back(one.error_percent());
    }
  }
  return errors;
}

std::string over_all(const std::string& what, const std::vector<double>& errors) {
  if (errors.empty()) return what + ": nothing to compare";
  const measured::ErrorFigures figures = measured::figures_of(errors);
  return fmt::format("{}: median {}% off over {}", what, percent(figures.median_abs),
                     format_count(figures.count));
}

std::string first_lines(const ValidateResult& result, const report::Screen& screen) {
  const Record& record = result.record;
  const auto skipped = std::count_if(record.rows.begin(), record.rows.end(),
                                     [](const RowResult& row) { return !row.skipped.empty(); });
  const auto count = static_cast<std::int64_t>(record.rows.size());
  const std::string rows = format_count(count) + (count == 1 ? " row" : " rows");
  std::string text =
      report::first_that_fits(
          {fmt::format("{} replayed, {} of them skipped.", rows, format_count(skipped)), rows},
          screen.columns) +
      "\n";
  const std::string memory =
      over_all("Memory", errors_of(record, {Metric::memory_allocated, Metric::memory_reserved}));
  text += report::first_that_fits(
              {memory + "; " + over_all("step time", errors_of(record, {Metric::step_time})) + ".",
               memory},
              screen.columns) +
          "\n";
  const measured::FitTable& fit = record.fit;
  if (fit.count() == 0) return text + "No row says whether it fits.\n";
  const std::string right = fmt::format("Fits or ran out: {:.1f}% of {} right",
                                        fit.right_share() * 100, format_count(fit.count()));
  const bool any_said_to_fit = fit.true_fit + fit.false_fit > 0;
  const std::string of_fitting =
      any_said_to_fit
          ? fmt::format("of those said to fit {:.1f}% ran out", fit.false_fit_share() * 100)
          : "none was said to fit";
  return text +
         report::first_that_fits({fmt::format("{}; {}.", right, of_fitting), right},
                                 screen.columns) +
         "\n";
}

std::string lines_text(const std::vector<SummaryLine>& lines, const std::string& title,
                       const report::Screen& screen) {
  if (lines.empty()) return {};
  const auto right = report::Align::right;
  report::Table table({{"source"},
                       {"metric"},
                       {"rows", right},
                       {"skip", right},
                       {"median", right},
                       {"mean", right},
                       {"p90", right},
                       {"worst", right},
                       {"bias", right},
                       {"in 80%", right}});
  for (const SummaryLine& line : lines) {
    const measured::ErrorFigures& figures = line.figures;
    std::string source = line.source;
    if (line.rows == RowClass::experts) source += " MoE";
    if (line.rows == RowClass::dense) source += " dense";
    if (line.rows == RowClass::stalled) source += " stall";
    if (line.rows == RowClass::not_stalled) source += " others";
    const std::string skipped = std::to_string(line.skipped);
    if (figures.count == 0) {
      table.add({source, "", "0", skipped, "", "", "", "", "", ""});
      continue;
    }
    table.add({source, metric_text(line.metric), std::to_string(figures.count),
               line.rows == RowClass::all ? skipped : "", percent(figures.median_abs),
               percent(figures.mean_abs), percent(figures.p90_abs), percent(figures.worst_abs),
               signed_percent(figures.bias),
               line.coverage ? fmt::format("{:.0f}", *line.coverage * 100) : std::string()});
  }
  return "\n" + title_text(title, screen) + table.text(screen);
}

std::vector<SummaryLine> of_classes(const std::vector<SummaryLine>& lines,
                                    std::initializer_list<RowClass> classes) {
  std::vector<SummaryLine> some;
  for (const SummaryLine& line : lines) {
    if (std::find(classes.begin(), classes.end(), line.rows) != classes.end()) some.push_back(line);
  }
  return some;
}

std::string fit_table(const measured::FitTable& fit, const report::Screen& screen) {
  report::Table table({{""}, {"ran", report::Align::right}, {"ran out", report::Align::right}});
  table.add({"said to fit", format_count(fit.true_fit), format_count(fit.false_fit)});
  table.add({"said not to fit", format_count(fit.false_oom), format_count(fit.true_oom)});
  return table.text(screen, 2);
}

// How well the intervals hold, over sources that have enough rows for a share.
std::string coverage_text(const Record& record, const report::Screen& screen) {
  if (record.coverage.rows == 0) return {};
  return "\n" +
         report::wrapped(
             fmt::format("In 80%: the share of rows within the interval that should hold 80% of "
                         "them, made from the runs of all models but the row's own. Over sources "
                         "with {} rows or more: {:.1f}% of {}.",
                         measured::kLeastCoverageRows, record.coverage.share() * 100,
                         format_count(record.coverage.rows)),
             screen.columns);
}

// What the constants know of the rows: their errors are a forecast only where that is nothing.
std::string knowledge_text(const ValidateResult& result, const report::Screen& screen) {
  if (result.knowledge.empty()) return {};
  const auto right = report::Align::right;
  report::Table table({{"constants"},
                       {"metric"},
                       {"rows", right},
                       {"median", right},
                       {"p90", right},
                       {"bias", right}});
  for (const measured::KnowledgeLine& line : result.knowledge) {
    const bool is_fitted = line.knowledge == measured::Knowledge::fitted;
    table.add({is_fitted ? "chosen with these rows" : "never saw these rows",
               line.is_memory ? "memory" : "step time", std::to_string(line.figures.count),
               percent(line.figures.median_abs), percent(line.figures.p90_abs),
               signed_percent(line.figures.bias)});
  }
  for (const measured::LeftOutLine& line : result.left_out) {
    table.add({line.source + ", its models left out", "step time", "", percent(line.median_percent),
               percent(line.p90_percent), ""});
  }
  return "\n" + title_text("Errors by what the constants know, percent", screen) +
         table.text(screen);
}

std::string sure_fit_text(const ValidateResult& result, const report::Screen& screen) {
  const measured::FitTable& fit = result.record.sure_fit;
  if (fit.count() == 0) return {};
  return "\n" + fit_table(fit, screen) +
         report::wrapped(
             fmt::format("With --confidence {:g}% a plan is said to fit where that is at least as "
                         "probable by the runs of other models: {:.1f}% right; of those said to "
                         "fit {:.1f}% ran out.",
                         result.confidence * 100, fit.right_share() * 100,
                         fit.false_fit_share() * 100),
             screen.columns);
}

std::string fit_text(const ValidateResult& result, const report::Screen& screen) {
  const measured::FitTable& fit = result.record.fit;
  if (fit.count() == 0) return {};
  std::string text =
      "\n" + title_text("Fits or ran out of memory", screen) + fit_table(fit, screen);
  text += report::wrapped(
      fmt::format("A plan is said to fit where {:.0f}% of the device's memory stay free.{}",
                  result.headroom * 100,
                  fit.set_apart == 0
                      ? std::string()
                      : fmt::format(" {} rows stand apart.", format_count(fit.set_apart))),
      screen.columns);
  return text;
}

std::string ranking_text(const Record& record, const report::Screen& screen) {
  if (record.ranking.empty()) return {};
  const auto right = report::Align::right;
  report::Table table({{"source"},
                       {"sweeps", right},
                       {"rows", right},
                       {"rank correlation", right},
                       {"median loss %", right},
                       {"worst loss %", right}});
  for (std::size_t i = 0; i < record.ranking.size();) {
    const std::string& source = record.ranking[i].source;
    std::vector<double> correlations;
    std::vector<double> losses;
    std::int64_t rows = 0;
    for (; i < record.ranking.size() && record.ranking[i].source == source; ++i) {
      const measured::SweepRanking& sweep = record.ranking[i];
      if (sweep.rank_correlation) correlations.push_back(*sweep.rank_correlation);
      losses.push_back(sweep.loss_percent);
      rows += sweep.rows;
    }
    table.add({source, std::to_string(losses.size()), std::to_string(rows),
               correlations.empty() ? std::string()
                                    : fmt::format("{:.2f}", measured::quantile(correlations, 0.5)),
               percent(measured::quantile(losses, 0.5)), percent(measured::quantile(losses, 1))});
  }
  return "\n" +
         title_text("Plans ranked by time: median over sweeps, loss by taking the predicted best",
                    screen) +
         table.text(screen);
}

std::string skipped_text(const Record& record, const report::Screen& screen) {
  if (record.skipped.empty()) return {};
  report::Table table({{"source"},
                       {"rows", report::Align::right},
                       {"skipped because", report::Align::left, report::WhenTight::wrap}});
  for (const measured::SkippedReason& one : record.skipped) {
    table.add({one.source, std::to_string(one.rows), one.reason});
  }
  return "\n" + title_text("Skipped", screen) + table.text(screen);
}

std::string fit_word(const std::optional<bool>& fits) {
  if (!fits) return "";
  return *fits ? "fits" : "out";
}

std::string rows_text(const Record& record, const report::Screen& screen) {
  const auto right = report::Align::right;
  report::Table table({{"id"},
                       {"metric"},
                       {"predicted", right},
                       {"measured", right},
                       {"error %", right},
                       {"notes", report::Align::left, report::WhenTight::wrap}});
  for (const RowResult& row : record.rows) {
    const std::string assumed = fmt::format("{}", fmt::join(row.assumed, "; "));
    if (!row.skipped.empty()) table.add({row.id, "skipped", "", "", "", row.skipped});
    for (const measured::Comparison& one : row.comparisons) {
      table.add({row.id, metric_text(one.metric), fmt::format("{:.4g}", one.predicted),
                 fmt::format("{:.4g}", one.measured), signed_percent(one.error_percent()),
                 one.set_apart.empty() ? assumed : "apart: " + one.set_apart});
    }
    if (row.measured_fit && (row.comparisons.empty() || row.predicted_fit != row.measured_fit)) {
      table.add({row.id, "fit", fit_word(row.predicted_fit), fit_word(row.measured_fit),
                 row.predicted_fit == row.measured_fit ? "" : "wrong", assumed});
    }
  }
  return "\n" + title_text("Rows", screen) + table.text(screen);
}

}  // namespace

std::string to_text(const ValidateResult& result, const report::Screen& screen) {
  const Record& record = result.record;
  std::string text = first_lines(result, screen);
  text += lines_text(record.summary, "Errors by source, percent", screen);
  text += lines_text(of_classes(record.classes, {RowClass::dense, RowClass::experts,
                                                 RowClass::stalled, RowClass::not_stalled}),
                     "Of these", screen);
  text += lines_text(of_classes(record.classes, {RowClass::set_apart}),
                     "Set apart, in none of the above", screen);
  text += coverage_text(record, screen);
  text += knowledge_text(result, screen);
  text += fit_text(result, screen);
  text += sure_fit_text(result, screen);
  text += ranking_text(record, screen);
  text += skipped_text(record, screen);
  if (result.rows) text += rows_text(record, screen);
  return text;
}

}  // namespace fourhold::api
