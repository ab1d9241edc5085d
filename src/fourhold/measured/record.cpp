#include "fourhold/measured/record.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace fourhold::measured {
namespace {

// Sources in the order in which their first row stands.
std::vector<std::string> sources_of(const std::vector<RowResult>& rows) {
  std::vector<std::string> sources;
  for (const RowResult& row : rows) {
    if (std::find(sources.begin(), sources.end(), row.source) == sources.end()) {
      sources.push_back(row.source);
    }
  }
  return sources;
}

// The rows of one source and metric, by class.
struct Errors {
  std::array<std::vector<double>, kRowClassNames.size()> of;
  std::array<Coverage, kRowClassNames.size()> coverages;
  [[nodiscard]] std::vector<double>& in(RowClass rows) {
    return of.at(static_cast<std::size_t>(rows));
  }
  [[nodiscard]] Coverage& coverage(RowClass rows) {
    return coverages.at(static_cast<std::size_t>(rows));
  }
  void add(RowClass rows, const Comparison& one) {
    in(rows).push_back(one.error_percent());
    if (!one.interval) return;
    ++coverage(rows).rows;
    if (one.is_covered()) ++coverage(rows).covered;
  }
};

void summarise(Record& record) {
  for (const std::string& source : sources_of(record.rows)) {
    std::array<Errors, kMetricNames.size()> errors;
    std::int64_t skipped = 0;
    for (const RowResult& row : record.rows) {
      if (row.source != source) continue;
      if (!row.skipped.empty()) ++skipped;
      for (const Comparison& one : row.comparisons) {
        Errors& list = errors.at(static_cast<std::size_t>(one.metric));
        if (!one.set_apart.empty()) {
          list.add(RowClass::set_apart, one);
          continue;
        }
        list.add(RowClass::all, one);
        list.add(row.has_experts ? RowClass::experts : RowClass::dense, one);
        if (one.metric != Metric::step_time) continue;
        list.add(row.stalls ? RowClass::stalled : RowClass::not_stalled, one);
      }
    }
    bool any = false;
    for (std::size_t metric = 0; metric < errors.size(); ++metric) {
      const auto line = [&](RowClass rows) {
        const Coverage& coverage = errors.at(metric).coverage(rows);
        return SummaryLine{
            .source = source,
            .metric = static_cast<Metric>(metric),
            .rows = rows,
            .figures = figures_of(errors.at(metric).in(rows)),
            .coverage = coverage.rows > 0 ? std::optional(coverage.share()) : std::nullopt,
            .skipped = skipped};
      };
      Errors& list = errors.at(metric);
      if (const Coverage& all = list.coverage(RowClass::all); all.rows >= kLeastCoverageRows) {
        record.coverage.rows += all.rows;
        record.coverage.covered += all.covered;
      }
      if (!list.in(RowClass::all).empty()) {
        record.summary.push_back(line(RowClass::all));
        any = true;
      }
      constexpr std::array kKinds{std::pair{RowClass::dense, RowClass::experts},
                                  std::pair{RowClass::stalled, RowClass::not_stalled}};
      for (const auto& [one, other] : kKinds) {
        if (list.in(one).empty() || list.in(other).empty()) continue;
        record.classes.push_back(line(one));
        record.classes.push_back(line(other));
      }
      if (!list.in(RowClass::set_apart).empty()) {
        record.classes.push_back(line(RowClass::set_apart));
      }
    }
    // A source of which nothing could be compared is a line too.
    if (!any && skipped > 0) {
      record.summary.push_back({.source = source, .figures = {}, .skipped = skipped});
    }
  }
}

void count_fit(const RowResult& row, bool predicted_fit, FitTable& fit) {
  if (!row.fit_set_apart.empty()) {
    ++fit.set_apart;
  } else if (predicted_fit) {
    ++(*row.measured_fit ? fit.true_fit : fit.false_fit);
  } else {
    ++(*row.measured_fit ? fit.false_oom : fit.true_oom);
  }
}

void count_fits(Record& record, double least_probability) {
  for (const RowResult& row : record.rows) {
    if (!row.predicted_fit || !row.measured_fit) continue;
    count_fit(row, *row.predicted_fit, record.fit);
    if (!row.fit_probability) continue;
    const bool sure = *row.predicted_fit && *row.fit_probability >= least_probability;
    count_fit(row, sure, record.sure_fit);
  }
}

struct Sweep {
  std::vector<double> predicted;  // seconds per sequence
  std::vector<double> measured;
};

void rank_sweeps(Record& record) {
  std::map<std::pair<std::string, std::string>, Sweep> sweeps;
  for (const RowResult& row : record.rows) {
    for (const Comparison& one : row.comparisons) {
      if (one.metric != Metric::step_time || !one.set_apart.empty()) continue;
      Sweep& sweep = sweeps[{row.source, row.sweep}];
      sweep.predicted.push_back(one.predicted / row.sequences);
      sweep.measured.push_back(one.measured / row.sequences);
    }
  }
  for (const auto& [key, sweep] : sweeps) {
    if (static_cast<std::int64_t>(sweep.predicted.size()) < kLeastSweepRows) continue;
    const auto chosen =
        std::min_element(sweep.predicted.begin(), sweep.predicted.end()) - sweep.predicted.begin();
    const double best = *std::min_element(sweep.measured.begin(), sweep.measured.end());
    record.ranking.push_back(
        {.source = key.first,
         .sweep = key.second,
         .rows = static_cast<std::int64_t>(sweep.predicted.size()),
         .rank_correlation = rank_correlation(sweep.predicted, sweep.measured),
         .loss_percent = (sweep.measured[static_cast<std::size_t>(chosen)] / best - 1) * 100});
  }
}

void count_skipped(Record& record) {
  for (const RowResult& row : record.rows) {
    if (row.skipped.empty()) continue;
    const auto known = std::find_if(record.skipped.begin(), record.skipped.end(),
                                    [&row](const SkippedReason& one) {
                                      return one.source == row.source && one.reason == row.skipped;
                                    });
    if (known != record.skipped.end()) {
      ++known->rows;
    } else {
      record.skipped.push_back({row.source, row.skipped, 1});
    }
  }
}

}  // namespace

double FitTable::right_share() const {
  return count() == 0 ? 0 : static_cast<double>(true_fit + true_oom) / static_cast<double>(count());
}

double FitTable::false_fit_share() const {
  const std::int64_t said = true_fit + false_fit;
  return said == 0 ? 0 : static_cast<double>(false_fit) / static_cast<double>(said);
}

Record record_of(std::vector<RowResult> rows, double least_probability) {
  Record record;
  record.rows = std::move(rows);
  summarise(record);
  count_fits(record, least_probability);
  rank_sweeps(record);
  count_skipped(record);
  return record;
}

}  // namespace fourhold::measured
