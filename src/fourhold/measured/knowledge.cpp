#include "fourhold/measured/knowledge.h"

#include <algorithm>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/base/json.h"
#include "fourhold/measured/csv.h"

namespace fourhold::measured {
namespace {

constexpr std::size_t kFittedColumns = 4;

double member_number(const json::Value& value, const char* name, const std::string& path) {
  const json::Value* member = value.find(name);
  if (member == nullptr)
    throw Error(path, fmt::format("has no '{}'", name), "run scripts/calibrate");
  return number_of(*member, path + "." + name);
}

}  // namespace

FittedSources::FittedSources(std::string_view text, const std::string& where) {
  CsvReader reader(text, where);
  std::vector<CsvField> record;
  reader.next(record);  // the header
  while (reader.next(record)) {
    if (record.size() != kFittedColumns) {
      throw Error(place_of(record.front(), where),
                  fmt::format("has {} fields, not {}", record.size(), kFittedColumns),
                  "write source,metric,knowledge,constants");
    }
    const std::string& metric = record[1].text;
    const auto* knowledge =
        std::find(kKnowledgeNames.begin(), kKnowledgeNames.end(), record[2].text);
    if (metric != "memory" && metric != "step_time") {
      throw Error(place_of(record[1], where), fmt::format("'{:.40}' is no metric", metric),
                  "use memory or step_time");
    }
    if (knowledge == kKnowledgeNames.end()) {
      throw Error(place_of(record[2], where),
                  fmt::format("'{:.40}' is no knowledge", record[2].text),
                  fmt::format("use {}", fmt::join(kKnowledgeNames, " or ")));
    }
    entries_.push_back({.source = record[0].text,
                        .is_memory = metric == "memory",
                        .knowledge = static_cast<Knowledge>(knowledge - kKnowledgeNames.begin())});
  }
}

Knowledge FittedSources::of(std::string_view source, Metric metric) const {
  const bool is_memory = metric != Metric::step_time;
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.source == source && entry.is_memory == is_memory;
  });
  return found == entries_.end() ? Knowledge::never_fitted : found->knowledge;
}

std::vector<KnowledgeLine> FittedSources::lines(const Record& record) const {
  std::vector<KnowledgeLine> lines;
  for (const bool is_memory : {true, false}) {
    std::array<std::vector<double>, kKnowledgeNames.size()> errors;
    for (const RowResult& row : record.rows) {
      for (const Comparison& one : row.comparisons) {
        if (!one.set_apart.empty() || (one.metric != Metric::step_time) != is_memory) continue;
        errors.at(static_cast<std::size_t>(of(row.source, one.metric)))
            .push_back(one.error_percent());
      }
    }
    for (std::size_t i = 0; i < errors.size(); ++i) {
      if (errors.at(i).empty()) continue;
      lines.push_back({.knowledge = static_cast<Knowledge>(i),
                       .is_memory = is_memory,
                       .figures = figures_of(errors.at(i))});
    }
  }
  return lines;
}

std::vector<LeftOutLine> left_out_errors(std::string_view calibration, const std::string& where,
                                         const Record& record) {
  const json::Value document = json::parse(calibration, where);
  const json::Value* errors = document.find("errors_percent");
  if (errors == nullptr || !errors->is_object()) {
    throw Error(where, "has no errors_percent", "run scripts/calibrate");
  }
  std::vector<LeftOutLine> lines;
  for (const auto& [source, figures] : errors->object()) {
    const std::string& name = source;
    const bool is_there =
        std::any_of(record.summary.begin(), record.summary.end(),
                    [&name](const SummaryLine& line) { return line.source == name; });
    const json::Value* left_out = figures.find("left_out");
    if (left_out == nullptr || !is_there) continue;
    const std::string path = fmt::format("{}: errors_percent.{}.left_out", where, name);
    lines.push_back({.source = name,
                     .median_percent = member_number(*left_out, "median", path),
                     .p90_percent = member_number(*left_out, "p90", path)});
  }
  return lines;
}

}  // namespace fourhold::measured
