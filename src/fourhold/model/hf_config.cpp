#include "fourhold/model/hf_config.h"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/base/json.h"
#include "fourhold/model/hf_architecture.h"
#include "fourhold/model/hf_extras.h"
#include "fourhold/model/hf_families.h"
#include "fourhold/model/hf_ignored.h"
#include "fourhold/model/hf_misspelled.h"
#include "fourhold/model/parameters.h"

namespace fourhold::model {
namespace {

// No model is near a thousand million million parameters; below it, byte counts stay exact.
constexpr std::int64_t kMaxParameters = 1'000'000'000'000'000;

// Files of this program that were named where a model belongs.
void refuse_plan_file(FieldReader& fields) {
  const json::Value* schema = fields.value("schema");
  if (schema != nullptr && schema->is_string()) {
    throw Error("schema", fmt::format("'{:.60}' is not a model's config.json", schema->string()),
                "name a model here: a built-in one, or the config.json of a release");
  }
  for (const std::string_view name :
       {"plan", "micro_batch", "global_batch", "grad_accum", "tp", "pp", "dp", "zero"}) {
    if (fields.value(name) == nullptr) continue;
    throw Error(
        "schema", fmt::format("is missing: '{}' belongs to a plan file", name),
        "a plan file states its schema, as those that fourhold writes do; a model is named, "
        "or a config.json");
  }
}

std::string model_type_of(FieldReader& fields) {
  std::optional<std::string> derived = type_of_architecture(fields);
  if (auto stated = fields.string("model_type")) return *std::move(stated);
  if (derived) return *std::move(derived);
  refuse_plan_file(fields);
  const bool original = fields.value("n_layers") != nullptr && fields.value("dim") != nullptr;
  throw Error(fields.path("model_type"), "is missing, and so is architectures",
              original ? "this looks like an original params.json; use the config.json of the "
                         "Hugging Face release"
                       : "a published config.json states one of them");
}

// The object that describes the language model of a multimodal file.
std::optional<FieldReader> language_model(FieldReader& document) {
  for (const std::string_view name : {"text_config", "language_config", "llm_config"}) {
    if (auto inner = document.object(name)) return inner;
  }
  return std::nullopt;
}

// What a wrapper's text_config is when it does not say so itself.
std::optional<std::string> text_type_of_wrapper(const std::string& wrapper) {
  struct TextType {
    std::string_view wrapper;
    std::string_view text;
  };
  static constexpr std::array kTextTypes{
      TextType{"gemma3", "gemma3_text"},
      TextType{"llama4", "llama4_text"},
      TextType{"mistral3", "mistral"},
      TextType{"qwen3_vl", "qwen3_vl_text"},
      TextType{"qwen3_vl_moe", "qwen3_vl_moe_text"},
      TextType{"qwen2_5_vl", "qwen2_5_vl_text"},
      TextType{"qwen2_vl", "qwen2_vl_text"},
      TextType{"kimi_k25", "kimi_k2"},
      TextType{"llava", "llama"},
      TextType{"llava_next", "llama"},
      TextType{"paligemma", "gemma"},
  };
  for (const TextType& known : kTextTypes) {
    if (known.wrapper == wrapper) return std::string(known.text);
  }
  return std::nullopt;
}

std::string text_type_of(FieldReader& text, const std::string& wrapper) {
  const bool stated = text.value("model_type") != nullptr || text.value("architectures") != nullptr;
  std::optional<std::string> known = stated ? std::nullopt : text_type_of_wrapper(wrapper);
  return known ? *std::move(known) : model_type_of(text);
}

// A wrapper that has no text_config, nor the fields of a language model in its place.
void refuse_missing_text_config(FieldReader& document, const std::string& model_type) {
  const bool wrapper = text_type_of_wrapper(model_type).has_value();
  if (!wrapper || find_family(model_type) != nullptr) return;
  if (document.value("hidden_size") != nullptr) return;
  throw Error("text_config",
              fmt::format("is missing: '{}' keeps its language model there", model_type),
              "add it from the published config.json");
}

void check_size(const ModelConfig& config) {
  if (count_parameters(config).total <= kMaxParameters) return;
  throw Error(std::string(kSizeFault), "more than 10^15 parameters", "");  // reworded below
}

void read_with(Reading& reading, std::string_view model_type, void (*read)(Reading& reading)) {
  try {
    read(reading);
    check_size(reading.config);
    add_quantization(reading);
    add_towers(reading);
    check_rotary(reading);
    note_misspelled(reading);
    note_ignored(reading, model_type);
  } catch (const Error& fault) {
    if (fault.where() != kSizeFault) throw;
    // A product left 64 bits: no single field is at fault.
    throw Error(reading.fields.path("hidden_size"),
                "the sizes together give more than 10^15 parameters",
                "check vocab_size, hidden_size, num_hidden_layers and the widths");
  }
}

void read_family(FieldReader& fields, FieldReader* outer, const std::string& model_type,
                 ModelConfig& config) {
  refuse_unsupported(model_type, fields);
  constexpr ClassDefaults kNoDefaults;
  const Family* family = find_family(model_type);
  Reading reading{fields, outer, family != nullptr ? family->defaults : kNoDefaults, config};
  note_architecture(reading, model_type);
  read_with(reading, model_type, family != nullptr ? family->read : read_unknown);
}

}  // namespace

ModelConfig read_hf_config(std::string_view text, const std::string& name) {
  const json::Value document = json::parse(text, name, json::Literals::nan_and_infinity);
  ModelConfig config;
  config.name = name;
  try {
    FieldReader fields(document, "");
    config.model_type = model_type_of(fields);
    refuse_unsupported(config.model_type, fields);
    if (std::optional<FieldReader> inner = language_model(fields)) {
      read_family(*inner, &fields, text_type_of(*inner, config.model_type), config);
    } else {
      refuse_missing_text_config(fields, config.model_type);
      read_family(fields, nullptr, config.model_type, config);
    }
  } catch (const Error& fault) {
    throw fault.inside(name);
  }
  return config;
}

std::vector<std::string_view> supported_model_types() { return family_names(); }

}  // namespace fourhold::model
