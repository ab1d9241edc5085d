#include "calibrate/report.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "calibrate/errors.h"
#include "fourhold/base/json.h"
#include "fourhold/measured/statistics.h"

namespace fourhold::calibrate {
namespace {

constexpr double kMovedSlope = 0.005;  // a row whose time moves less says nothing of a constant
constexpr int kDigits = 4;

struct FoldRange {
  double least = 0;
  double most = 0;
};

FoldRange range_of(std::size_t constant, const Fit& fit, const CrossValidation& validation) {
  FoldRange range{fit.values[constant], fit.values[constant]};
  for (const Fold& fold : validation.folds) {
    range.least = std::min(range.least, fold.values[constant]);
    range.most = std::max(range.most, fold.values[constant]);
  }
  return range;
}

double rounded(double value) {
  return std::strtod(fmt::format("{:.{}g}", value, kDigits).c_str(), nullptr);
}

// Error figures by source; `validate` prints those of models left out from the file.
std::map<std::string, measured::ErrorFigures> figures_by_source(const std::vector<TimedRow>& rows) {
  std::map<std::string, std::vector<double>> errors;
  for (const TimedRow& row : rows) errors[row.source].push_back(row.error_percent());
  std::map<std::string, measured::ErrorFigures> figures;
  for (const auto& [source, list] : errors) figures[source] = measured::figures_of(list);
  return figures;
}

json::Value figures_json(const measured::ErrorFigures& figures) {
  return json::Object{{"rows", figures.count},
                      {"median", rounded(figures.median_abs)},
                      {"p90", rounded(figures.p90_abs)},
                      {"bias", rounded(figures.bias)}};
}

json::Object rows_moved(std::size_t constant, const Fit& fit) {
  std::map<std::string, std::int64_t> moved;
  for (std::size_t i = 0; i < fit.rows.size(); ++i) {
    if (std::abs(fit.slopes[i][constant]) >= kMovedSlope) ++moved[fit.rows[i].source];
  }
  json::Object object;
  for (const auto& [source, count] : moved) object.emplace_back(source, count);
  return object;
}

}  // namespace

std::string report_text(const std::vector<Constant>& constants, const std::vector<TimedRow>& priors,
                        const Fit& fit, const CrossValidation& validation) {
  std::string text = "With the priors\n" + errors_text(priors);
  text += "\nFitted\n" + errors_text(fit.rows);
  text += "\nOf rows whose model was left out\n" + errors_text(validation.left_out);
  text += "\nMedian and bias by source, fitted and left out\n";
  const auto fitted = figures_by_source(fit.rows);
  const auto left_out = figures_by_source(validation.left_out);
  for (const auto& [source, in] : fitted) {
    const measured::ErrorFigures& out = left_out.at(source);
    text += fmt::format("{:<16} {:>5} {:>6.1f} {:>6.1f}   {:>+6.1f} {:>+6.1f}\n", source, in.count,
                        in.median_abs, out.median_abs, in.bias, out.bias);
  }
  text += fmt::format("\nConstants (cost {:.1f}): prior, value, range over the folds\n", fit.cost);
  for (std::size_t k = 0; k < constants.size(); ++k) {
    const FoldRange range = range_of(k, fit, validation);
    text += fmt::format("{:<16} {:>9.4g} {:>9.4g}  {:>9.4g} to {:>9.4g}  {}\n", constants[k].name,
                        constants[k].prior, fit.values[k], range.least, range.most,
                        constants[k].meaning);
  }
  return text;
}

std::string report_json(const std::vector<Constant>& constants, const Fit& fit,
                        const CrossValidation& validation) {
  json::Array list;
  for (std::size_t k = 0; k < constants.size(); ++k) {
    const FoldRange range = range_of(k, fit, validation);
    list.emplace_back(
        json::Object{{"name", constants[k].name},
                     {"meaning", constants[k].meaning},
                     {"value", rounded(fit.values[k])},
                     {"folds", json::Array{rounded(range.least), rounded(range.most)}},
                     {"rows", rows_moved(k, fit)}});
  }
  const auto fitted = figures_by_source(fit.rows);
  const auto left_out = figures_by_source(validation.left_out);
  json::Object sources;
  for (const auto& [source, figures] : fitted) {
    sources.emplace_back(source, json::Object{{"fitted", figures_json(figures)},
                                              {"left_out", figures_json(left_out.at(source))}});
  }
  return json::write(json::Object{{"made_by", "scripts/calibrate"},
                                  {"constants", std::move(list)},
                                  {"errors_percent", std::move(sources)}}) +
         "\n";
}

}  // namespace fourhold::calibrate
