#include "fourhold/measured/knowledge.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/parse_number.h"
#include "fourhold/measured/csv.h"

namespace fourhold::measured {
namespace {

constexpr std::size_t kFittedColumns = 6;

double percent_of(const CsvField& field, const std::string& where) {
  const std::optional<double> number = parse_number(field.text);
  if (number && *number >= 0) return *number;
  throw Error(place_of(field, where), fmt::format("'{:.40}' is no percentage", field.text),
              "write a number from 0 up, or leave both columns blank");
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
                  "write source,metric,knowledge,constants and the two left-out percentages");
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
    Entry entry{.source = record[0].text,
                .is_memory = metric == "memory",
                .knowledge = static_cast<Knowledge>(knowledge - kKnowledgeNames.begin()),
                .left_out = {}};
    if (!record[4].text.empty() || !record[5].text.empty()) {
      entry.left_out = LeftOutLine{.source = entry.source,
                                   .median_percent = percent_of(record[4], where),
                                   .p90_percent = percent_of(record[5], where)};
    }
    entries_.push_back(std::move(entry));
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

std::vector<LeftOutLine> FittedSources::left_out(const Record& record) const {
  std::vector<LeftOutLine> lines;
  for (const Entry& entry : entries_) {
    const bool is_there =
        std::any_of(record.summary.begin(), record.summary.end(),
                    [&entry](const SummaryLine& line) { return line.source == entry.source; });
    if (entry.left_out && is_there) lines.push_back(*entry.left_out);
  }
  return lines;
}

}  // namespace fourhold::measured
