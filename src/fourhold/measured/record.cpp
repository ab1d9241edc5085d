#include "fourhold/measured/record.h"

#include <algorithm>
#include <array>
#include <map>
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

struct Errors {
  std::array<std::vector<double>, kRowClassNames.size()> of;
  [[nodiscard]] std::vector<double>& in(RowClass rows) {
    return of.at(static_cast<std::size_t>(rows));
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
          list.in(RowClass::set_apart).push_back(one.error_percent());
          continue;
        }
        list.in(RowClass::all).push_back(one.error_percent());
        list.in(row.has_experts ? RowClass::experts : RowClass::dense)
            .push_back(one.error_percent());
      }
    }
    bool any = false;
    for (std::size_t metric = 0; metric < errors.size(); ++metric) {
      const auto line = [&](RowClass rows) {
        return SummaryLine{.source = source,
                           .metric = static_cast<Metric>(metric),
                           .rows = rows,
                           .figures = figures_of(errors.at(metric).in(rows)),
                           .skipped = skipped};
      };
      Errors& list = errors.at(metric);
      if (!list.in(RowClass::all).empty()) {
        record.summary.push_back(line(RowClass::all));
        any = true;
      }
      if (!list.in(RowClass::dense).empty() && !list.in(RowClass::experts).empty()) {
        record.classes.push_back(line(RowClass::dense));
        record.classes.push_back(line(RowClass::experts));
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

void count_fits(Record& record) {
  FitTable& fit = record.fit;
  for (const RowResult& row : record.rows) {
    if (!row.predicted_fit || !row.measured_fit) continue;
    if (!row.fit_set_apart.empty()) {
      ++fit.set_apart;
    } else if (*row.predicted_fit) {
      ++(*row.measured_fit ? fit.true_fit : fit.false_fit);
    } else {
      ++(*row.measured_fit ? fit.false_oom : fit.true_oom);
    }
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

Record record_of(std::vector<RowResult> rows) {
  Record record;
  record.rows = std::move(rows);
  summarise(record);
  count_fits(record);
  rank_sweeps(record);
  count_skipped(record);
  return record;
}

}  // namespace fourhold::measured
