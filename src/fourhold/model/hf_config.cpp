#include "fourhold/model/hf_config.h"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/json.h"
#include "fourhold/model/hf_extras.h"
#include "fourhold/model/hf_families.h"
#include "fourhold/model/parameters.h"

namespace fourhold::model {
namespace {

// No model is near a thousand million million parameters; below it, byte counts stay exact.
constexpr std::int64_t kMaxParameters = 1'000'000'000'000'000;
constexpr std::string_view kSizeFault = "size";  // the place that checked arithmetic names

// Letters and digits in lower case: "GPTNeoX" and "gpt_neox" agree.
std::string normalised(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') out += static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) out += c;
  }
  return out;
}

// "Qwen3MoeForCausalLM" -> "qwen3_moe", where a family of that name is known.
std::optional<std::string> type_of_architecture(FieldReader& fields) {
  const auto architectures = fields.strings("architectures");
  if (!architectures.has_value() || architectures->empty()) return std::nullopt;
  std::string_view name = architectures->front();
  for (const std::string_view suffix :
       {"ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "Model"}) {
    const std::size_t at = name.rfind(suffix);
    if (at == std::string_view::npos || at + suffix.size() != name.size()) continue;
    name = name.substr(0, at);
    break;
  }
  const std::string wanted = normalised(name);
  for (const std::string_view family : family_names()) {
    if (normalised(family) == wanted) return std::string(family);
  }
  if (wanted == "rw") return "falcon";
  if (wanted == "decilm") return "nemotron-nas";
  if (find_family(wanted) != nullptr) return wanted;
  return std::string(name);
}

std::string model_type_of(FieldReader& fields) {
  if (auto stated = fields.string("model_type")) return *std::move(stated);
  if (auto derived = type_of_architecture(fields)) return *std::move(derived);
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
std::string text_type_of(FieldReader& text, const std::string& wrapper) {
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
  const bool stated = text.value("model_type") != nullptr || text.value("architectures") != nullptr;
  if (!stated) {
    for (const TextType& known : kTextTypes) {
      if (known.wrapper == wrapper) return std::string(known.text);
    }
  }
  return model_type_of(text);
}

void check_size(const ModelConfig& config) {
  if (count_parameters(config).total <= kMaxParameters) return;
  throw Error(std::string(kSizeFault), "more than 10^15 parameters");
}

void read_with(Reading& reading, void (*read)(Reading& reading)) {
  try {
    read(reading);
    check_size(reading.config);
    add_quantization(reading);
    add_towers(reading);
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
  read_with(reading, family != nullptr ? family->read : read_unknown);
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
      read_family(fields, nullptr, config.model_type, config);
    }
  } catch (const Error& fault) {
    throw fault.inside(name);
  }
  return config;
}

std::vector<std::string_view> supported_model_types() { return family_names(); }

}  // namespace fourhold::model
