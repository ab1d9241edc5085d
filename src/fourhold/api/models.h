// `fourhold models`: the built-in models, or one of them in detail.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/api/option.h"
#include "fourhold/base/embedded.h"
#include "fourhold/base/json.h"
#include "fourhold/model/model_config.h"
#include "fourhold/model/parameters.h"
#include "fourhold/report/screen.h"

namespace fourhold::api {

struct ModelsRequest {
  std::string model;  // "" lists all
};

template <class Visitor>
void visit_options(Visitor&& visit, ModelsRequest& request) {
  visit(Option{{"model",
                "one model, built in or a file, in detail; without it all that are built in"},
               OptionGroup::operand,
               ValueKind::model},
        request.model);
}

struct ModelRow {
  std::string name;
  model::ModelConfig config;
  model::ParameterCounts counts;
  std::string refused;       // why it cannot be counted; config and counts are then empty
  std::string facts_source;  // where the built-in facts are from; "" for a file
  std::string total_source;  // where the total they were checked against is from
};

struct ModelsResult {
  std::vector<ModelRow> models;  // by name
};

// data/models/SOURCES.md.
[[nodiscard]] std::span<const EmbeddedFile> embedded_model_sources();

[[nodiscard]] ModelsResult models(const ModelsRequest& request);

[[nodiscard]] json::Value to_json(const ModelsResult& result);
[[nodiscard]] std::string to_text(const ModelsResult& result, const report::Screen& screen);

}  // namespace fourhold::api
