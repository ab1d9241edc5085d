#include "calibrate/errors.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "fourhold/measured/record.h"
#include "fourhold/measured/statistics.h"

namespace fourhold::calibrate {
namespace {

// Median over sweeps, or a blank.
std::string rank_text(const std::vector<const TimedRow*>& rows) {
  struct Pairs {
    std::vector<double> predicted, measured;
  };
  std::map<std::string, Pairs> sweeps;
  for (const TimedRow* row : rows) {
    Pairs& pairs = sweeps[row->sweep];
    pairs.predicted.push_back(row->predicted_seconds / row->sequences);
    pairs.measured.push_back(row->measured_seconds / row->sequences);
  }
  std::vector<double> correlations;
  for (const auto& [name, pairs] : sweeps) {
    if (static_cast<std::int64_t>(pairs.predicted.size()) < measured::kLeastSweepRows) continue;
    if (const auto rank = measured::rank_correlation(pairs.predicted, pairs.measured)) {
      correlations.push_back(*rank);
    }
  }
  return correlations.empty() ? "" : fmt::format("{:.2f}", measured::quantile(correlations, 0.5));
}

}  // namespace

std::string errors_text(const std::vector<TimedRow>& rows) {
  std::vector<std::string> sources;
  std::map<std::string, std::map<std::string, std::vector<const TimedRow*>>> groups;
  for (const TimedRow& row : rows) {
    if (groups.find(row.source) == groups.end()) sources.push_back(row.source);
    for (const std::string& name : row.classes) groups[row.source][name].push_back(&row);
  }
  std::string text = fmt::format("{:<24} {:>5} {:>7} {:>7} {:>7} {:>6}\n", "source", "rows",
                                 "median", "p90", "bias", "rank");
  for (const std::string& source : sources) {
    const auto& classes = groups[source];
    const std::size_t all = classes.at("all").size();
    for (const auto& [name, members] : classes) {
      if (name != "all" && members.size() == all) continue;
      std::vector<double> errors;
      for (const TimedRow* row : members) errors.push_back(row->error_percent());
      const measured::ErrorFigures figures = measured::figures_of(errors);
      text += fmt::format("{:<24} {:>5} {:>7.1f} {:>7.1f} {:>+7.1f} {:>6}\n",
                          name == "all" ? source : "  " + source + " " + name, figures.count,
                          figures.median_abs, figures.p90_abs, figures.bias, rank_text(members));
    }
  }
  return text;
}

}  // namespace fourhold::calibrate
