#include "fourhold/api/validate.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/near_match.h"
#include "fourhold/confidence/residual_table.h"
#include "fourhold/measured/row_confidence.h"
#include "fourhold/measured/row_files.h"

namespace fourhold::api {
namespace {

using measured::MeasuredRow;

void add_rows(std::vector<MeasuredRow>& rows, std::vector<MeasuredRow> more) {
  rows.insert(rows.end(), std::make_move_iterator(more.begin()),
              std::make_move_iterator(more.end()));
}

// One file named twice, or a copy of one: its rows would count twice.
void refuse_second_reading(const std::vector<MeasuredRow>& rows) {
  std::unordered_set<std::string_view> ids;
  for (const MeasuredRow& row : rows) {
    if (ids.insert(row.id).second) continue;
    throw Error("FILE.csv", fmt::format("row '{:.40}' stands in two of the files", row.id),
                "name each file once, and give every row an id of its own");
  }
}

// The drawing would take the place of the rows.
void refuse_to_draw_over(const ValidateRequest& request) {
  for (const std::string& file : request.files) {
    std::error_code ignored;  // a file that is not there yet is no row file
    if (request.svg.empty() || !std::filesystem::equivalent(file, request.svg, ignored)) continue;
    throw Error("--svg", fmt::format("{} is a file of rows", request.svg), "name another file");
  }
}

std::vector<MeasuredRow> read_rows(const ValidateRequest& request) {
  if (request.files.empty() && !request.builtin) {
    throw Error("FILE.csv", "is missing", "name a file of measured rows, or use --builtin");
  }
  std::vector<MeasuredRow> rows;
  for (const std::string& file : request.files) {
    add_rows(rows, measured::read_row_file(file));
  }
  if (request.builtin) add_rows(rows, measured::builtin_rows());
  refuse_second_reading(rows);
  return rows;
}

void keep_source(std::vector<MeasuredRow>& rows, const std::string& source) {
  if (source.empty()) return;
  std::vector<MeasuredRow> kept;
  std::vector<std::string_view> families;
  for (const MeasuredRow& row : rows) {
    if (row.family() == source) kept.push_back(row);
    if (families.empty() || families.back() != row.family()) families.push_back(row.family());
  }
  if (kept.empty()) {
    const std::string near = did_you_mean(source, families);
    throw Error("--source", fmt::format("no row is of '{:.40}'", source),
                near.empty() ? fmt::format("the sources are {}", fmt::join(families, ", ")) : near);
  }
  rows = std::move(kept);
}

}  // namespace

ValidateResult validate(const ValidateRequest& request) {
  refuse_to_draw_over(request);
  std::vector<MeasuredRow> rows = read_rows(request);
  keep_source(rows, request.source);
  ValidateResult result;
  result.rows = request.rows;
  result.headroom = request.headroom.value_or(0);
  result.confidence = request.confidence.value_or(confidence::kIntervalCoverage);
  const measured::Exclusions exclusions(measured::excluded_text(), "excluded.csv");
  measured::Catalogue catalogue;
  const confidence::ResidualTable residuals = confidence::builtin_residuals();
  measured::RowConfidence sureness(residuals);
  const auto start = std::chrono::steady_clock::now();
  std::vector<measured::RowResult> results;
  results.reserve(rows.size());
  for (const MeasuredRow& row : rows) {
    results.push_back(measured::compare_row(row, exclusions, catalogue, result.headroom));
    sureness.judge(results.back());
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.record = measured::record_of(std::move(results), result.confidence);
  const measured::FittedSources fitted(measured::fitted_text(), "fitted.csv");
  result.knowledge = fitted.lines(result.record);
  result.left_out =
      measured::left_out_errors(measured::time_calibration_text(), "time.json", result.record);
  return result;
}

std::vector<report::ScatterPanel> scatter_of(const ValidateResult& result) {
  std::vector<report::ScatterPanel> panels{
      {"Allocated memory, GiB", {}}, {"Reserved memory, GiB", {}}, {"Time of a step, seconds", {}}};
  for (const measured::RowResult& row : result.record.rows) {
    for (const measured::Comparison& one : row.comparisons) {
      if (!one.set_apart.empty() || one.predicted <= 0) continue;
      panels.at(static_cast<std::size_t>(one.metric))
          .points.push_back({one.measured, one.predicted, row.source});
    }
  }
  return panels;
}

}  // namespace fourhold::api
