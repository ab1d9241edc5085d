#include "fourhold/api/models.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fourhold/api/run.h"
#include "fourhold/api/run_text.h"
#include "fourhold/base/ascii.h"
#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/model/catalogue.h"
#include "fourhold/model/load_model.h"
#include "fourhold/report/table.h"
#include "fourhold/report/text.h"

namespace fourhold::api {
namespace {

// The row "| name.json | facts | total |" of the table of sources.
void add_sources(ModelRow& row) {
  const std::string start = "\n| " + row.name + ".json |";
  for (const EmbeddedFile& file : embedded_model_sources()) {
    const std::size_t at = file.text.find(start);
    if (at == std::string_view::npos) continue;
    std::string_view line = file.text.substr(at + start.size());
    line = line.substr(0, line.find('\n'));
    const std::size_t bar = line.find(" | ");
    row.facts_source = trimmed(line.substr(0, bar));
    if (bar == std::string_view::npos) return;
    line.remove_prefix(bar + 3);
    row.total_source = trimmed(line.substr(0, line.rfind('|')));
    return;
  }
}

ModelRow built_in_row(const std::string& name) {
  ModelRow row;
  row.name = name;
  add_sources(row);
  try {
    row.config = model::load_model(name);
    row.counts = model::count_parameters(row.config);
  } catch (const Error& error) {
    // A published model that is known not to be countable stands in the list with the reason.
    row.refused =
        fmt::format("{}{}{}", error.where(), error.where().empty() ? "" : ": ", error.what());
  }
  return row;
}

bool is_mixture(const ModelRow& row) { return row.counts.active != row.counts.total; }

std::string list_text(const ModelsResult& result, const report::Screen& screen) {
  report::Table table({{"name"},
                       {"type", report::Align::left, report::WhenTight::wrap},
                       {"layers", report::Align::right},
                       {"hidden", report::Align::right},
                       {"parameters", report::Align::right},
                       {"active", report::Align::right}});
  std::int64_t refused = 0;
  for (const ModelRow& row : result.models) {
    if (!row.refused.empty()) {
      ++refused;
      table.add({row.name, "not supported", "", "", "", ""});
      continue;
    }
    table.add({row.name, row.config.model_type, std::to_string(row.config.layer_count()),
               std::to_string(row.config.hidden), format_count(row.counts.total),
               is_mixture(row) ? format_count(row.counts.active) : "all"});
  }
  std::string text = fmt::format("{} built-in models; any other published config.json works too.\n",
                                 static_cast<std::int64_t>(result.models.size()) - refused);
  text += report::wrapped(
      "`fourhold models NAME` shows where one is from, `fourhold params NAME` its modules.",
      screen.columns);
  text += "\n";
  return text + table.text(screen);
}

std::string row_text(const ModelRow& row, const report::Screen& screen) {
  const model::ModelConfig& config = row.config;
  std::string text = report::wrapped(
      fmt::format("{}: {} parameters, {} layers of width {}", row.name,
                  format_count(row.counts.total), config.layer_count(), config.hidden),
      screen.columns);
  if (!row.refused.empty()) {
    text = report::wrapped(row.name + ": not supported", screen.columns) +
           report::wrapped(row.refused, screen.columns);
  } else {
    const std::string positions =
        config.max_positions > 0 ? fmt::format(", at most {} positions", config.max_positions) : "";
    text += report::wrapped(
        fmt::format("type {}, vocabulary {}{}, {} head{}", config.model_type, config.vocab,
                    positions, config.tied ? "tied" : "untied",
                    is_mixture(row) ? fmt::format(", {} parameters active for one token",
                                                  format_count(row.counts.active))
                                    : ""),
        screen.columns);
  }
  if (!row.facts_source.empty()) {
    text += report::wrapped(row.facts_source, screen.columns, "Facts   ");
    text += report::wrapped(row.total_source, screen.columns, "Total   ");
  }
  for (const std::string& note : config.notes) {
    text += report::wrapped(note, screen.columns, "Note    ");
  }
  return text;
}

json::Value row_json(const ModelRow& row) {
  const bool counted = row.refused.empty();
  const auto number = [counted](std::int64_t value) {
    return counted ? json::Value(value) : json::Value();
  };
  const auto text = [](const std::string& value) {
    return value.empty() ? json::Value() : json::Value(value);
  };
  return json::Object{{"name", row.name},
                      {"type", text(row.config.model_type)},
                      {"parameters", number(row.counts.total)},
                      {"active_parameters", number(row.counts.active)},
                      {"layers", number(row.config.layer_count())},
                      {"hidden", number(row.config.hidden)},
                      {"vocab", number(row.config.vocab)},
                      {"max_positions", number(row.config.max_positions)},
                      {"tied", counted ? json::Value(row.config.tied) : json::Value()},
                      {"refused", text(row.refused)},
                      {"facts_source", text(row.facts_source)},
                      {"total_source", text(row.total_source)}};
}

}  // namespace

ModelsResult models(const ModelsRequest& request) {
  ModelsResult result;
  if (request.model.empty()) {
    for (const std::string_view name : model::catalogue_names()) {
      result.models.push_back(built_in_row(std::string(name)));
    }
    return result;
  }
  if (model::catalogue_text(request.model)) {
    result.models.push_back(built_in_row(request.model));
    return result;
  }
  ModelRow row;
  row.name = display_name(request.model);
  row.config = model::load_model(request.model);
  row.counts = model::count_parameters(row.config);
  result.models.push_back(std::move(row));
  return result;
}

json::Value to_json(const ModelsResult& result) {
  json::Array rows;
  for (const ModelRow& row : result.models) rows.push_back(row_json(row));
  return json::Object{{"schema", "fourhold.models/1"}, {"models", std::move(rows)}};
}

std::string to_text(const ModelsResult& result, const report::Screen& screen) {
  if (result.models.size() == 1) return row_text(result.models.front(), screen);
  return list_text(result, screen);
}

}  // namespace fourhold::api
