#include "apps/engine/sample_source.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "apps/engine/model_checks.h"
#include "fourhold/base/error.h"
#include "fourhold/base/json.h"
#include "fourhold/base/quantity.h"
#include "fourhold/base/text_file.h"
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

constexpr std::string_view kGenerationConfig = "generation_config.json";
constexpr std::int64_t kMostConfigBytes = 1 << 20;
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

// The folder of a checkpoint's weights, if `name` is one, is a file of one, or holds some.
std::optional<std::string> checkpoint_in(const std::string& name, SampleSource& source) {
  std::optional<engine::SavedCheckpoint> saved =
      engine::own_checkpoint(name, engine::Verify::contents);
  if (!saved) {
    if (engine::steps_in(name).empty()) return std::nullopt;
    const engine::Latest latest = engine::latest_checkpoint(name);
    for (const std::string& skipped : latest.skipped) source.notes.push_back(skipped);
    if (!latest.path) {
      throw Error(name, "holds no complete checkpoint: " + latest.skipped.front(),
                  "restore one, or use the folder of another run");
    }
    saved = engine::own_checkpoint(*latest.path, engine::Verify::sizes);  // it was just read
  }
  source.tokenizer = saved->run.tokenizer;
  source.notes.push_back("checkpoint " + saved->path + ", after step " +
                         std::to_string(saved->run.step));
  return saved->path;
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
    if (path.extension() == ".safetensors") {
      static_cast<void>(checkpoint_in(name, source));
      return name;
    }
    throw Error("model", "'" + name + "' is a file that holds no weights", kGive);
  }
  if (const auto checkpoint = checkpoint_in(name, source)) return *checkpoint;
  if (!holds_weights(path)) throw Error(name, "holds no weights and no checkpoint", kGive);
  return name;
}

fs::path folder_of(const std::string& weights) {
  const fs::path path(weights);
  return path.extension() == ".safetensors" ? path.parent_path() : path;
}

// Of generation_config.json, which counts for what both say, and of config.json.
engine::GenerationConfig generation_of(const SampleSource& source,
                                       const model::ConfigText& config) {
  engine::GenerationConfig generation;
  const fs::path file = folder_of(source.weights) / std::string(kGenerationConfig);
  if (is_there(file)) {
    generation = engine::parse_generation_config(read_text_file(file.string(), kMostConfigBytes),
                                                 source.model.vocab, file.string());
  }
  const auto stops = engine::read_stop_tokens(
      json::parse(config.text, config.name, json::Literals::nan_and_infinity), source.model.vocab,
      config.name);
  if (!generation.stop_tokens) generation.stop_tokens = stops;
  return generation;
}

bool is_bytes(const data::Tokenizer& tokenizer) { return tokenizer.name() == "bytes"; }

// The source's own, if it says or holds one.
std::optional<std::string> own_tokenizer(SampleSource& source) {
  if (source.tokenizer == "bytes") return source.tokenizer;
  const fs::path folder = folder_of(source.weights);
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
  source.generation = generation_of(source, text);
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
    throw Error(asked.empty() ? source.weights : "--tokenizer",
                fmt::format("tokenizer {} has {} ids, the model only {}", tokenizer->name(),
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
  std::vector<data::TokenId>& stops = source.stop_tokens;
  if (source.generation.stop_tokens) stops = *source.generation.stop_tokens;
  if (is_bytes(*tokenizer)) stops.clear();  // of another vocabulary
  if (const auto end = tokenizer->end_of_text()) stops.push_back(*end);
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
