// The answer of `fourhold validate` as JSON: schema fourhold.validate/1.
#include <optional>
#include <string>
#include <utility>

#include "fourhold/api/run_json.h"
#include "fourhold/api/validate.h"

namespace fourhold::api {
namespace {

using measured::Comparison;
using measured::RowResult;
using measured::SummaryLine;

json::Value text_or_null(const std::string& text) {
  return text.empty() ? json::Value() : json::Value(text);
}

json::Value flag_or_null(const std::optional<bool>& flag) {
  return flag ? json::Value(*flag) : json::Value();
}

std::string name_of(measured::Metric metric) {
  return std::string(measured::kMetricNames.at(static_cast<std::size_t>(metric)));
}

json::Value interval_json(const confidence::Interval& interval) {
  return json::Object{{"low", interval.low}, {"high", interval.high}};
}

// One entry per metric; one without a metric for a row that is skipped or says only whether it ran.
json::Value row_json(const RowResult& row, const Comparison* one) {
  return json::Object{
      {"id", row.id},
      {"source", row.source},
      {"metric", one == nullptr ? json::Value() : json::Value(name_of(one->metric))},
      {"predicted", one == nullptr ? json::Value() : json::Value(one->predicted)},
      {"measured", one == nullptr ? json::Value() : json::Value(one->measured)},
      {"error_percent", one == nullptr ? json::Value() : json::Value(one->error_percent())},
      {"interval",
       one == nullptr || !one->interval ? json::Value() : interval_json(*one->interval)},
      {"fit_probability", number_json(row.fit_probability)},
      {"predicted_fit", flag_or_null(row.predicted_fit)},
      {"measured_fit", flag_or_null(row.measured_fit)},
      {"skipped", text_or_null(row.skipped)},
      {"set_apart", text_or_null(one == nullptr ? std::string() : one->set_apart)},
      {"fit_set_apart", text_or_null(row.fit_set_apart)},
      {"assumed", texts_json(row.assumed)}};
}

json::Value line_json(const SummaryLine& line) {
  const measured::ErrorFigures& figures = line.figures;
  const bool any = figures.count > 0;
  const auto figure = [any](double value) { return any ? json::Value(value) : json::Value(); };
  return json::Object{{"source", line.source},
                      {"metric", name_of(line.metric)},
                      {"class", measured::kRowClassNames.at(static_cast<std::size_t>(line.rows))},
                      {"rows", figures.count},
                      {"skipped", line.skipped},
                      {"median_abs_percent", figure(figures.median_abs)},
                      {"mean_abs_percent", figure(figures.mean_abs)},
                      {"p90_abs_percent", figure(figures.p90_abs)},
                      {"worst_percent", figure(figures.worst_abs)},
                      {"bias_percent", figure(figures.bias)},
                      {"coverage_80", line.coverage ? json::Value(*line.coverage) : json::Value()}};
}

json::Array lines_json(const std::vector<SummaryLine>& lines) {
  json::Array array;
  for (const SummaryLine& line : lines) array.push_back(line_json(line));
  return array;
}

json::Value knowledge_json(const std::vector<measured::KnowledgeLine>& lines) {
  json::Array list;
  for (const measured::KnowledgeLine& line : lines) {
    list.push_back(json::Object{
        {"knowledge", measured::kKnowledgeNames.at(static_cast<std::size_t>(line.knowledge))},
        {"metric", line.is_memory ? "memory" : "step_time"},
        {"rows", line.figures.count},
        {"median_abs_percent", line.figures.median_abs},
        {"p90_abs_percent", line.figures.p90_abs},
        {"bias_percent", line.figures.bias}});
  }
  return list;
}

json::Value left_out_json(const std::vector<measured::LeftOutLine>& lines) {
  json::Array list;
  for (const measured::LeftOutLine& line : lines) {
    list.push_back(json::Object{{"source", line.source},
                                {"metric", "step_time"},
                                {"median_abs_percent", line.median_percent},
                                {"p90_abs_percent", line.p90_percent}});
  }
  return list;
}

json::Value fit_json(const measured::FitTable& fit, const char* by, double value) {
  return json::Object{{"true_fit", fit.true_fit},   {"true_oom", fit.true_oom},
                      {"false_fit", fit.false_fit}, {"false_oom", fit.false_oom},
                      {"set_apart", fit.set_apart}, {by, value}};
}

}  // namespace

json::Value to_json(const ValidateResult& result) {
  const measured::Record& record = result.record;
  json::Array rows;
  for (const RowResult& row : record.rows) {
    for (const Comparison& one : row.comparisons) rows.push_back(row_json(row, &one));
    if (row.comparisons.empty() && (!row.skipped.empty() || row.measured_fit)) {
      rows.push_back(row_json(row, nullptr));
    }
  }
  json::Array ranking;
  for (const measured::SweepRanking& sweep : record.ranking) {
    ranking.push_back(json::Object{
        {"source", sweep.source},
        {"sweep", sweep.sweep},
        {"metric", "step_time"},
        {"rows", sweep.rows},
        {"rank_correlation",
         sweep.rank_correlation ? json::Value(*sweep.rank_correlation) : json::Value()},
        {"loss_percent", sweep.loss_percent}});
  }
  json::Array skipped;
  for (const measured::SkippedReason& one : record.skipped) {
    skipped.push_back(
        json::Object{{"source", one.source}, {"reason", one.reason}, {"rows", one.rows}});
  }
  return json::Object{{"schema", "fourhold.validate/1"},
                      {"rows", std::move(rows)},
                      {"summary", lines_json(record.summary)},
                      {"classes", lines_json(record.classes)},
                      {"fit", fit_json(record.fit, "headroom", result.headroom)},
                      {"sure_fit", fit_json(record.sure_fit, "confidence", result.confidence)},
                      {"coverage", json::Object{{"rows", record.coverage.rows},
                                                {"covered", record.coverage.covered}}},
                      {"knowledge", knowledge_json(result.knowledge)},
                      {"left_out", left_out_json(result.left_out)},
                      {"ranking", std::move(ranking)},
                      {"skipped", std::move(skipped)},
                      {"seconds", result.seconds}};
}

}  // namespace fourhold::api
