#include "apps/engine/sample_source.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "apps/engine/model_checks.h"
#include "fourhold/base/error.h"
#include "fourhold/base/json.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/checkpoint/checkpoint_names.h"
#include "fourhold/engine/checkpoint/marker.h"
#include "fourhold/engine/checkpoint/safetensors_reader.h"
#include "fourhold/engine/checkpoint/saved_checkpoint.h"
#include "fourhold/engine/data/byte_tokenizer.h"
#include "fourhold/model/hf_config.h"
#include "fourhold/model/load_model.h"

namespace fourhold::engine_app {
namespace {

namespace fs = std::filesystem;
namespace data = engine::data;

constexpr const char* kGive =
    "name a checkpoint or the --out folder of `fourhold train`, or a folder with config.json and "
    ".safetensors files";

bool is_there(const fs::path& path) {
  std::error_code fault;
  return fs::exists(path, fault);
}

bool holds_weights(const fs::path& folder) {
  std::error_code fault;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, fault)) {
    if (entry.path().extension() == ".safetensors") return true;
  }
  return false;
}

// The folder of a checkpoint's weights, if `name` is one or holds some.
std::optional<std::string> checkpoint_in(const std::string& name, SampleSource& source) {
  std::string path = name;
  if (!is_there(fs::path(name) / std::string(engine::kMarkerName))) {
    if (engine::steps_in(name).empty()) return std::nullopt;
    const engine::Latest latest = engine::latest_checkpoint(name);
    for (const std::string& skipped : latest.skipped) source.notes.push_back(skipped);
    if (!latest.path) {
      throw Error(name, "holds no complete checkpoint: " + latest.skipped.front(),
                  "use another folder, or train on: the next save is whole");
    }
    path = *latest.path;
  }
  // The newest of a run's has been read already.
  const engine::SavedCheckpoint saved = engine::open_checkpoint(
      path, path == name ? engine::Verify::contents : engine::Verify::sizes);
  source.tokenizer = saved.run.tokenizer;
  source.notes.push_back("checkpoint " + path + ", after step " + std::to_string(saved.run.step));
  return path;
}

std::string weights_of(const std::string& name, SampleSource& source) {
  if (name.empty()) throw Error("model", "is missing", kGive);
  const fs::path path(name);
  if (!is_there(path)) {
    throw Error("model", "'" + name + "' does not exist: text needs weights, not a model's name",
                kGive);
  }
  std::error_code fault;
  if (!fs::is_directory(path, fault)) {
    if (path.extension() == ".safetensors") return name;
    throw Error("model", "'" + name + "' is a file that holds no weights", kGive);
  }
  if (const auto checkpoint = checkpoint_in(name, source)) return *checkpoint;
  if (!holds_weights(path)) throw Error(name, "holds no weights and no checkpoint", kGive);
  return name;
}

// `eos_token_id`: one or several.
std::vector<data::TokenId> stop_tokens_of(const json::Value& config, std::int64_t vocab) {
  std::vector<data::TokenId> ids;
  const auto add = [&](const json::Value& value) {
    if (!value.is_integer() || value.integer() < 0 || value.integer() >= vocab) return;
    ids.push_back(static_cast<data::TokenId>(value.integer()));
  };
  const json::Value* value = config.find("eos_token_id");
  if (value == nullptr) return ids;
  if (value->is_array()) {
    for (const json::Value& one : value->array()) add(one);
  } else {
    add(*value);
  }
  return ids;
}

bool is_bytes(const data::Tokenizer& tokenizer) { return tokenizer.name() == "bytes"; }

// The source's own, if it says or holds one.
std::optional<std::string> own_tokenizer(SampleSource& source) {
  if (source.tokenizer == "bytes") return source.tokenizer;
  const fs::path path(source.weights);
  const fs::path folder = path.extension() == ".safetensors" ? path.parent_path() : path;
  for (const char* file : {"tokenizer.json", "tokenizer.model"}) {
    if (is_there(folder / file)) return (folder / file).string();
  }
  if (source.tokenizer.empty() && source.model.vocab == data::kByteVocabulary) {
    source.notes.emplace_back("nothing says the tokenizer: 257 ids are taken as bytes");
    return "bytes";
  }
  return std::nullopt;
}

}  // namespace

SampleSource open_sample_source(const std::string& name) {
  SampleSource source;
  source.weights = weights_of(name, source);
  const model::ConfigText text = model::load_config_text(
      source.weights.find('/') == std::string::npos ? "./" + source.weights : source.weights);
  source.model = model::read_hf_config(text.text, text.name);
  source.numerics = model::read_numerics(text.text, text.name);
  require_kernels(source.model, source.numerics);
  source.stop_tokens = stop_tokens_of(
      json::parse(text.text, text.name, json::Literals::nan_and_infinity), source.model.vocab);
  return source;
}

std::shared_ptr<data::Tokenizer> open_source_tokenizer(SampleSource& source,
                                                       const std::string& asked) {
  std::optional<std::string> name = own_tokenizer(source);
  if (!asked.empty()) name = asked;
  if (!name) {
    throw Error(
        "--tokenizer",
        source.tokenizer.empty()
            ? source.weights + " holds no tokenizer.json and no tokenizer.model"
            : "the model was trained on tokens of '" + source.tokenizer + "', which is not here",
        "give the tokenizer that made its training data: a tokenizer.json, a .model, or bytes");
  }
  std::shared_ptr<data::Tokenizer> tokenizer = data::open_tokenizer(*name);
  const std::int64_t ids = tokenizer->vocabulary_size();
  if (ids > source.model.vocab) {
    throw Error(asked.empty() ? *name : "--tokenizer",
                fmt::format("{} has {} ids, the model only {}", tokenizer->name(),
                            format_count(ids), format_count(source.model.vocab)),
                "give the tokenizer that made the model's training data");
  }
  source.notes.push_back("tokenizer: " + tokenizer->name());
  if (!source.tokenizer.empty() && source.tokenizer != tokenizer->name()) {
    source.notes.push_back("the model was trained on tokens of another one: " + source.tokenizer);
  }
  if (ids < source.model.vocab) {
    source.notes.push_back(fmt::format("ids from {} to {} have no text and are never chosen",
                                       format_count(ids), format_count(source.model.vocab - 1)));
  }
  if (is_bytes(*tokenizer)) source.stop_tokens.clear();  // of another vocabulary
  if (const auto end = tokenizer->end_of_text()) source.stop_tokens.push_back(*end);
  return tokenizer;
}

StoredPrecision stored_precision(const std::string& weights) {
  const engine::WeightFiles files(weights);
  const bool narrow =
      std::all_of(files.tensors().begin(), files.tensors().end(),
                  [](const auto& stored) { return stored.tensor.type == model::StoredType::bf16; });
  return narrow ? StoredPrecision::bf16 : StoredPrecision::fp32;
}

}  // namespace fourhold::engine_app
