#include "fourhold/api/params.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "fourhold/api/modules.h"
#include "fourhold/api/published_total.h"
#include "fourhold/api/run.h"
#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/model/catalogue.h"
#include "fourhold/model/checkpoint.h"
#include "fourhold/model/checkpoint_count.h"
#include "fourhold/model/load_model.h"
#include "fourhold/model/parameters.h"

namespace fourhold::api {
namespace {

std::string extra_text(const model::Extra& extra) {
  if (extra.elements == 0) return fmt::format("not counted: {} ({})", extra.name, extra.why);
  return fmt::format("not counted: {}, {} elements ({})", extra.name, format_count(extra.elements),
                     extra.why);
}

ParamsResult params_of_config(const model::ModelConfig& config) {
  const model::ParameterCounts counts = model::count_parameters(config);
  ParamsResult result;
  result.name = display_name(config.name);
  result.total = counts.total;
  result.active = counts.active;
  result.embedding = counts.embedding;
  result.modules = modules_of(config);
  result.notes = config.notes;
  if (config.tied) {
    result.notes.emplace_back("the head shares the embedding's matrix: it is counted once");
  }
  for (const model::Extra& extra : config.extras) result.notes.push_back(extra_text(extra));
  return result;
}

std::string line_text(const model::CountLine& line) {
  std::string_view effect = "counted";
  if (line.effect == model::CountEffect::set_aside) effect = "not counted";
  if (line.effect == model::CountEffect::unpacked) effect = "counted twice, being packed";
  return fmt::format("{}: {}, {} elements in {} tensors ({})", effect, line.what,
                     format_count(line.elements), format_count(line.tensors), line.why);
}

// The config.json beside the weights, if there is one and it can be read.
std::optional<model::ModelConfig> config_beside(const std::string& path,
                                                std::vector<std::string>& notes) {
  const std::filesystem::path file(path);
  std::error_code fault;
  const bool folder = std::filesystem::is_directory(file, fault);
  const std::filesystem::path config = (folder ? file : file.parent_path()) / "config.json";
  if (!std::filesystem::exists(config, fault)) return std::nullopt;
  try {
    return model::load_model(config.string());
  } catch (const Error& error) {
    notes.push_back(fmt::format("the config.json beside the weights is not used: {}: {}",
                                error.where(), error.what()));
    return std::nullopt;
  }
}

void add_config(const model::ModelConfig& config, ParamsResult& result) {
  const model::ParameterCounts counts = model::count_parameters(config);
  if (counts.total != result.total) {
    result.notes.push_back(fmt::format(
        "the config.json beside the weights describes {} parameters, the weights hold {}: the "
        "weights are counted",
        format_count(counts.total), format_count(result.total)));
    return;
  }
  result.active = counts.active;
  result.embedding = counts.embedding;
}

ParamsResult params_of_weights(const std::string& path) {
  ParamsResult result;
  const model::Checkpoint checkpoint = model::read_checkpoint(path);
  const std::optional<model::ModelConfig> config = config_beside(path, result.notes);
  model::CountOptions options;
  if (config) options.tie = config->tied ? model::Tie::tied : model::Tie::untied;
  options.stated_parameters = checkpoint.stated_parameters;
  options.stated_bytes = checkpoint.stated_bytes;
  const model::CheckpointCount count = model::count_checkpoint(checkpoint.tensors, options);

  result.name = display_name(checkpoint.path);
  result.total = count.parameters;
  result.modules = modules_of(checkpoint.tensors);
  if (config) add_config(*config, result);
  for (const model::TypeCount& type : count.types) {
    result.notes.push_back(fmt::format("stored as {}: {} elements in {} tensors",
                                       to_string(type.type), format_count(type.elements),
                                       format_count(type.tensors)));
  }
  for (const model::CountLine& line : count.lines) result.notes.push_back(line_text(line));
  result.notes.insert(result.notes.end(), count.notes.begin(), count.notes.end());
  result.notes.insert(result.notes.end(), checkpoint.notes.begin(), checkpoint.notes.end());
  return result;
}

// Weights are asked for by their own name; a folder with a config.json stands for the config.
bool means_weights(const std::string& path) {
  if (model::catalogue_text(path) || !model::is_checkpoint_path(path)) return false;
  std::error_code fault;
  const std::filesystem::path folder(path);
  return !std::filesystem::is_directory(folder, fault) ||
         !std::filesystem::exists(folder / "config.json", fault);
}

json::Value number_or_null(std::optional<std::int64_t> value) {
  return value ? json::Value(*value) : json::Value();
}

}  // namespace

ParamsResult params(const ParamsRequest& request) {
  if (request.model.empty()) {
    throw Error("MODEL", "is missing",
                "name a built-in model (`fourhold models` lists them) or a config.json");
  }
  ParamsResult result;
  std::vector<model::Extra> extras;
  if (means_weights(request.model)) {
    result = params_of_weights(request.model);
  } else {
    const model::ModelConfig config = model::load_model(request.model);
    result = params_of_config(config);
    extras = config.extras;
  }
  if (request.published) {
    result.published = explain_published(*request.published, result.total, extras);
    result.notes.insert(result.notes.begin(), published_text(*result.published, result.total));
  }
  return result;
}

json::Value to_json(const ParamsResult& result) {
  json::Array modules;
  for (const Module& module : result.modules) {
    json::Array shape;
    for (const std::int64_t size : module.shape) shape.emplace_back(size);
    modules.push_back(json::Object{{"name", module.name},
                                   {"shape", std::move(shape)},
                                   {"count", module.count},
                                   {"copies", module.copies},
                                   {"total", module.total()}});
  }
  json::Value published;
  if (result.published) {
    json::Array explained;
    for (const std::string& text : result.published->explained) explained.emplace_back(text);
    published = json::Object{{"total", result.published->total},
                             {"difference", result.published->difference},
                             {"explained", std::move(explained)}};
  }
  std::optional<std::int64_t> rest;
  if (result.active && result.embedding) rest = *result.active - *result.embedding;
  json::Array notes;
  for (const std::string& note : result.notes) notes.emplace_back(note);
  return json::Object{
      {"schema", "fourhold.params/1"},
      {"model", json::Object{{"name", result.name}}},
      {"parameters", json::Object{{"total", result.total},
                                  {"active", number_or_null(result.active)},
                                  {"active_without_embedding", number_or_null(rest)},
                                  {"embedding", number_or_null(result.embedding)}}},
      {"modules", std::move(modules)},
      {"published", std::move(published)},
      {"notes", std::move(notes)}};
}

}  // namespace fourhold::api
