// Reading and writing residuals, schema fourhold.residuals/1.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/embedded.h"
#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/confidence/residual_table.h"

namespace fourhold::confidence {

std::span<const EmbeddedFile> embedded_residuals();  // a generated source defines it

namespace {

constexpr std::string_view kResidualSchema = "fourhold.residuals/1";
constexpr NumberRange kLogRatios{-10, 10};
constexpr std::int64_t kMostRows = std::int64_t{1} << 40;

Metric metric_of(const std::string& name, const std::string& path) {
  const auto* found = std::find(kMetricNames.begin(), kMetricNames.end(), name);
  if (found != kMetricNames.end()) return static_cast<Metric>(found - kMetricNames.begin());
  throw Error(path, fmt::format("'{:.40}' is no metric", name),
              fmt::format("they are {}", fmt::join(kMetricNames, ", ")));
}

ResidualEntry entry_of(const json::Value& value, const std::string& path) {
  FieldReader reader(value, path);
  ResidualEntry entry;
  entry.profile = reader.required_string("profile");
  entry.generation = reader.required_string("generation");
  entry.metric = metric_of(reader.required_string("metric"), reader.path("metric"));
  entry.model = reader.required_string("model");
  entry.rows = reader.required_integer("rows", {1, kMostRows});
  entry.log_ratios = reader.numbers("log_ratios", kLogRatios).value_or(std::vector<double>{});
  reader.refuse_unread();
  if (entry.log_ratios.empty() ||
      !std::is_sorted(entry.log_ratios.begin(), entry.log_ratios.end())) {
    throw Error(reader.path("log_ratios"), "must be ascending numbers, at least one",
                "list evenly spaced quantiles of log(measured / predicted)");
  }
  return entry;
}

}  // namespace

ResidualTable parse_residuals(std::string_view text, const std::string& where) {
  const json::Value document = json::parse(text, where);
  try {
    FieldReader reader(document, "");
    const std::string schema = reader.required_string("schema");
    if (schema != kResidualSchema) {
      throw Error("schema", fmt::format("'{:.60}' is no file of residuals", schema),
                  fmt::format("it must be '{}'", kResidualSchema));
    }
    std::vector<ResidualEntry> entries;
    if (const json::Array* array = reader.array("entries")) {
      for (std::size_t i = 0; i < array->size(); ++i) {
        entries.push_back(entry_of((*array)[i], fmt::format("entries[{}]", i)));
      }
    }
    reader.refuse_unread();
    return ResidualTable(std::move(entries));
  } catch (const Error& fault) {
    throw fault.inside(where);
  }
}

json::Value to_json(const ResidualTable& table) {
  json::Array entries;
  for (const ResidualEntry& entry : table.entries()) {
    json::Array log_ratios;
    for (const double value : entry.log_ratios) log_ratios.emplace_back(value);
    entries.push_back(
        json::Object{{"profile", entry.profile},
                     {"generation", entry.generation},
                     {"metric", kMetricNames.at(static_cast<std::size_t>(entry.metric))},
                     {"model", entry.model},
                     {"rows", entry.rows},
                     {"log_ratios", std::move(log_ratios)}});
  }
  return json::Object{{"schema", kResidualSchema}, {"entries", std::move(entries)}};
}

ResidualTable builtin_residuals() {
  const std::span<const EmbeddedFile> files = embedded_residuals();
  if (files.empty()) return ResidualTable({});
  return parse_residuals(files.front().text, "residuals.json");
}

}  // namespace fourhold::confidence
