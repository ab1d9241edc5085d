#include "fourhold/measured/model_family.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fourhold/measured/row_words.h"

namespace fourhold::measured {
namespace {

// The first prefix that matches counts.
struct Relative {
  std::string_view prefix;
  std::string_view built_in;
};
constexpr std::array kRelatives{
    Relative{"llama-3.2-1b", "llama-3.2-1b"}, Relative{"llama-3.2-3b", "llama-3.2-1b"},
    Relative{"qwen2.5", "qwen2.5-7b"},        Relative{"qwen2-", "qwen2.5-7b"},
    Relative{"qwen1.5", "qwen2.5-7b"},        Relative{"qwen-", "qwen2.5-7b"},
    Relative{"qwen3-30b", "qwen3-30b-a3b"},   Relative{"qwen3-235b", "qwen3-30b-a3b"},
    Relative{"qwen3-", "qwen3-8b"},           Relative{"gpt-oss", "gpt-oss-20b"},
    Relative{"deepseek-v3", "deepseek-v3"},   Relative{"deepseek-v2-lite", "deepseek-v2-lite"},
    Relative{"deepseek-v2", "deepseek-v3"},   Relative{"kimi-k2", "deepseek-v3"},
    Relative{"mixtral", "mixtral-8x7b"},      Relative{"mistral", "mistral-7b-v0.1"},
    Relative{"bloom", "bloom-7b1"},           Relative{"gemma-2b", "gemma-2b"},
    Relative{"gemma-2-", "gemma-2-9b"},       Relative{"gemma-3", "gemma-3-4b"},
    Relative{"falcon-40b", "falcon-40b"},     Relative{"falcon-7b", "falcon-7b"},
    Relative{"pythia", "pythia-6.9b"},        Relative{"stablelm-alpha", "pythia-6.9b"},
    Relative{"phi-1", "pythia-6.9b"}};

// Fewer layers are the first of them; more go on with the period of two that mixed families have.
void resize_layers(model::ModelConfig& config, std::int64_t count) {
  const std::vector<std::int32_t> layers = config.layers;
  const auto had = static_cast<std::int64_t>(layers.size());
  config.layers.clear();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t like = i < had ? i : std::max<std::int64_t>(had - 2 + (i - had) % 2, 0);
    config.layers.push_back(layers[static_cast<std::size_t>(like)]);
  }
}

// Whether heads are hidden / heads wide, or of a width of their own.
enum class HeadWidth : std::uint8_t { divided, own };

void resize(model::Attention& attention, const MeasuredRow& row, HeadWidth width) {
  if (attention.kind == model::AttentionKind::latent) {
    attention.heads = *row.heads;
    attention.kv_heads = *row.heads;
    return;
  }
  attention.heads = *row.heads;
  attention.kv_heads = row.kv_heads.value_or(*row.heads);
  if (width == HeadWidth::divided && *row.hidden % *row.heads == 0) {
    attention.head_dim = *row.hidden / *row.heads;
  }
  attention.value_head_dim = attention.head_dim;
}

void resize(model::FeedForward& ffn, const MeasuredRow& row) {
  if (ffn.kind == model::FeedForwardKind::dense && !row.experts) ffn.width = *row.ffn;
  if (ffn.kind != model::FeedForwardKind::experts) return;
  // Shared experts are as wide as a number of routed ones.
  const std::int64_t shared = ffn.expert_width == 0 ? 0 : ffn.shared_width / ffn.expert_width;
  ffn.expert_width = *row.ffn;
  ffn.shared_width = shared * *row.ffn;
  ffn.experts = row.experts.value_or(ffn.experts);
  ffn.active_experts = row.active_experts.value_or(ffn.active_experts);
}

// DeepSeek-V2 beside V3 (arXiv 2405.04434, sec. 3.1.2): one dense layer of 12,288 in front instead
// of three, two shared experts, no bias that balances experts.
void make_deepseek_v2(model::ModelConfig& config, std::int64_t layers) {
  const std::int32_t dense = config.layers.front();
  const std::int32_t routed = config.layers.back();
  config.layers.assign(static_cast<std::size_t>(layers), routed);
  config.layers.front() = dense;
  config.kinds[static_cast<std::size_t>(dense)].feed_forward.width = 12288;
  model::FeedForward& experts = config.kinds[static_cast<std::size_t>(routed)].feed_forward;
  experts.shared_width = 2 * experts.expert_width;
  experts.correction_bias = false;
}

// phi-1 and phi-1.5 beside GPT-NeoX (their published config.json): both branches share one norm,
// the head has a bias.
void make_phi(model::ModelConfig& config) {
  for (model::LayerKind& kind : config.kinds) {
    kind.placement = model::NormPlacement::parallel_one_norm;
  }
  config.head_bias = true;
  config.tied = false;
}

// Head and embedding are one tensor in the small sizes of these families.
bool is_tied(std::string_view name, bool otherwise) {
  for (const std::string_view small : {"qwen2.5-0.5b", "qwen2.5-1.5b", "qwen2.5-3b", "qwen2-0.5b",
                                       "qwen2-1.5b", "qwen3-0.6b", "qwen3-1.7b", "qwen3-4b"}) {
    if (starts_with(name, small)) return true;
  }
  return otherwise;
}

}  // namespace

std::string folded_model_name(std::string_view name) {
  std::string folded = lowered(name);
  for (char& c : folded) {
    if (c == ' ' || c == '_' || c == '/') c = '-';
  }
  return folded;
}

std::optional<model::ModelConfig> family_model(const MeasuredRow& row, Catalogue& catalogue) {
  const std::string name = folded_model_name(row.model);
  const auto relative =
      std::find_if(kRelatives.begin(), kRelatives.end(),
                   [&name](const Relative& one) { return starts_with(name, one.prefix); });
  if (relative == kRelatives.end()) return std::nullopt;
  model::ModelConfig config = catalogue.model(std::string(relative->built_in));
  const bool has_experts =
      std::any_of(config.kinds.begin(), config.kinds.end(), [](const model::LayerKind& kind) {
        return kind.feed_forward.kind == model::FeedForwardKind::experts;
      });
  if (has_experts != row.experts.has_value()) return std::nullopt;
  const std::int64_t built_in_hidden = config.hidden;
  config.name = row.model;
  config.hidden = *row.hidden;
  config.embedding_width = *row.hidden;
  config.vocab = row.vocab.value_or(config.vocab);
  config.extras.clear();
  config.tied = is_tied(name, config.tied);
  for (model::LayerKind& kind : config.kinds) {
    const bool own = starts_with(name, "qwen3") ||
                     kind.attention.heads * kind.attention.head_dim != built_in_hidden;
    resize(kind.attention, row, own ? HeadWidth::own : HeadWidth::divided);
    resize(kind.feed_forward, row);
  }
  if (starts_with(name, "deepseek-v2") && relative->built_in == "deepseek-v3") {
    make_deepseek_v2(config, *row.layers);
  } else {
    resize_layers(config, *row.layers);
  }
  if (starts_with(name, "phi-1")) make_phi(config);
  return config;
}

}  // namespace fourhold::measured
