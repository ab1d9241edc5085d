#include "fourhold/model/write_hf_config.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/model/config_difference.h"
#include "fourhold/model/hf_config.h"

namespace fourhold::model {
namespace {

struct WrittenType {
  std::string_view model_type;
  std::string_view architecture;
};
// The classes with a language modelling head in transformers.
constexpr std::array kWrittenTypes{
    WrittenType{"gpt2", "GPT2LMHeadModel"}, WrittenType{"llama", "LlamaForCausalLM"},
    WrittenType{"mistral", "MistralForCausalLM"}, WrittenType{"qwen2", "Qwen2ForCausalLM"},
    WrittenType{"qwen3", "Qwen3ForCausalLM"}};

std::string_view architecture_of(const ModelConfig& config) {
  for (const WrittenType& type : kWrittenTypes) {
    if (type.model_type == config.model_type) return type.architecture;
  }
  throw Error(config.name,
              fmt::format("a config.json of model type '{}' cannot be written", config.model_type),
              "supported are gpt2, llama, mistral, qwen2 and qwen3");
}

std::string_view torch_name(DType dtype) {
  switch (dtype) {
    case DType::fp32:
      return "float32";
    case DType::bf16:
      return "bfloat16";
    case DType::fp16:
      return "float16";
    default:
      throw Error("dtype", fmt::format("weights cannot be written as {}", to_string(dtype)),
                  "supported are fp32, bf16 and fp16");
  }
}

std::string_view activation_name(ActivationKind kind, bool gpt2) {
  switch (kind) {
    case ActivationKind::relu:
      return "relu";
    case ActivationKind::silu:
      return "silu";
    case ActivationKind::gelu:
      break;
  }
  return gpt2 ? "gelu_new" : "gelu";
}

json::Object gpt2_members(const ModelConfig& config, const LayerKind& layer) {
  return {{"n_embd", config.hidden},
          {"n_head", layer.attention.heads},
          {"n_layer", config.layer_count()},
          {"n_positions", config.max_positions},
          {"n_ctx", config.max_positions},
          {"n_inner", layer.feed_forward.width},
          {"resid_pdrop", config.dropout},
          {"attn_pdrop", config.attention_dropout},
          {"embd_pdrop", config.embedding_dropout}};
}

// The window that layers have, 0 = none has one.
std::int64_t window_of(const ModelConfig& config) {
  std::int64_t window = 0;
  for (const LayerKind& kind : config.kinds) window = std::max(window, kind.attention.window);
  return window;
}

void add_windows(const ModelConfig& config, json::Object& members) {
  const std::int64_t window = window_of(config);
  if (config.model_type == "llama") return;
  if (config.model_type != "mistral") members.emplace_back("use_sliding_window", window != 0);
  members.emplace_back("sliding_window", window == 0 ? json::Value() : json::Value(window));
  if (window == 0) return;
  json::Array types;
  for (const std::int32_t kind : config.layers) {
    const bool windowed = config.kinds[static_cast<std::size_t>(kind)].attention.window != 0;
    types.emplace_back(windowed ? "sliding_attention" : "full_attention");
  }
  members.emplace_back("layer_types", std::move(types));
}

json::Object llama_members(const ModelConfig& config, const LayerKind& layer) {
  json::Object members{{"hidden_size", config.hidden},
                       {"intermediate_size", layer.feed_forward.width},
                       {"num_hidden_layers", config.layer_count()},
                       {"num_attention_heads", layer.attention.heads},
                       {"num_key_value_heads", layer.attention.kv_heads},
                       {"head_dim", layer.attention.head_dim},
                       {"max_position_embeddings", config.max_positions},
                       {"attention_dropout", config.attention_dropout}};
  const bool llama = config.model_type == "llama";
  if (llama || config.model_type == "qwen3") {
    members.emplace_back("attention_bias", layer.attention.qkv_bias);
  }
  if (llama) members.emplace_back("mlp_bias", layer.feed_forward.bias);
  add_windows(config, members);
  return members;
}

bool holds(const json::Object& members, std::string_view name) {
  return std::any_of(members.begin(), members.end(),
                     [name](const auto& member) { return member.first == name; });
}

// Members of the source that say what the weights were, not what these are.
bool is_of_the_source(std::string_view name) {
  return name == "dtype" || name == "quantization_config" || name == "_name_or_path";
}

void refuse_other_model(const std::string& text, const ModelConfig& config) {
  const std::vector<std::string> lines =
      config_differences(config, read_hf_config(text, config.name));
  if (lines.empty()) return;
  throw Error(config.name,
              fmt::format("no config.json of model type '{}' describes this model: {}",
                          config.model_type, fmt::join(lines, "; ")),
              "the weights could not be loaded elsewhere with such a file");
}

}  // namespace

std::string write_hf_config(const ModelConfig& config, DType dtype, const json::Object& carried) {
  const bool gpt2 = config.model_type == "gpt2";
  const LayerKind& layer = config.kinds.front();
  json::Object members{{"architectures", json::Array{architecture_of(config)}},
                       {"model_type", config.model_type},
                       {"vocab_size", config.vocab}};
  for (auto& member : gpt2 ? gpt2_members(config, layer) : llama_members(config, layer)) {
    members.push_back(std::move(member));
  }
  members.emplace_back("tie_word_embeddings", config.tied);
  members.emplace_back("torch_dtype", torch_name(dtype));
  // Which of the variants of gelu it is stands in the source alone.
  const std::string_view activation = gpt2 ? "activation_function" : "hidden_act";
  if (!holds(carried, activation)) {
    members.emplace_back(activation, activation_name(layer.feed_forward.activation, gpt2));
  }
  for (const auto& member : carried) {
    if (!holds(members, member.first) && !is_of_the_source(member.first)) members.push_back(member);
  }
  std::string text = json::write(members) + "\n";
  refuse_other_model(text, config);
  return text;
}

}  // namespace fourhold::model
