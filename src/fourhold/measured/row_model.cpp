#include "fourhold/measured/row_model.h"

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/measured/model_family.h"
#include "fourhold/measured/published_model.h"
#include "fourhold/measured/row_words.h"
#include "fourhold/model/depth.h"

namespace fourhold::measured {
namespace {

// Megatron's defaults: GPT-2's tokens, positions as many as the sequence, dropout 0.1.
constexpr std::int64_t kGpt2Tokens = 50257;
constexpr std::int64_t kPaddedGpt2Tokens = 51200;
constexpr double kMegatronDropout = 0.1;

bool is_gated(const MeasuredRow& row, ModelStyle style) {
  return style == ModelStyle::llama || (style == ModelStyle::megatron && row.is_on("swiglu"));
}

void require_sizes(const MeasuredRow& row, Findings& findings) {
  if (!row.layers) findings.lacks("layers");
  if (!row.hidden) findings.lacks("hidden");
  if (!row.heads) findings.lacks("heads");
}

// Every layer is walked and replayed: a slip of the keyboard is not to cost minutes.
void refuse_depth(const MeasuredRow& row) {
  if (*row.layers <= model::kLayerRange.most) return;
  throw Error("layers",
              fmt::format("is {}; it must be {}", *row.layers, range_text(model::kLayerRange)),
              "check the row");
}

std::int64_t assumed_width(const MeasuredRow& row, ModelStyle style, Findings& findings) {
  if (!is_gated(row, style)) {
    findings.assumes("ffn is 4 x hidden");
    return 4 * *row.hidden;
  }
  findings.assumes("ffn is 8/3 x hidden, rounded up to 64");
  return (8 * *row.hidden / 3 + 63) / 64 * 64;
}

// Fills what has a documented default.
void fill_defaults(MeasuredRow& row, ModelStyle style, Findings& findings) {
  if (!row.kv_heads) row.kv_heads = row.heads;
  if (!row.ffn && !row.experts) row.ffn = assumed_width(row, style, findings);
  if (!row.ffn) findings.lacks("ffn");
  if (row.experts && !row.active_experts) findings.lacks("active_experts");
  if (row.vocab) return;
  if (style == ModelStyle::megatron) {
    row.vocab = kGpt2Tokens;
    findings.assumes("the vocabulary is GPT-2's 50,257, padded");
  } else if (style == ModelStyle::gpt2) {
    row.vocab = kPaddedGpt2Tokens;
    findings.assumes("the vocabulary is GPT-2's, padded to 51,200");
  } else {
    findings.lacks("vocab");
  }
}

// Facts that contradict each other are of no model.
void require_consistent(const MeasuredRow& row) {
  if (*row.heads % *row.kv_heads != 0) {
    throw Error("heads", fmt::format("{} do not divide by {} kv_heads", *row.heads, *row.kv_heads),
                "check the row");
  }
  if (row.experts && *row.active_experts > *row.experts) {
    throw Error("active_experts",
                fmt::format("{} are more than the {} experts", *row.active_experts, *row.experts),
                "check the row");
  }
}

// Of models whose heads have no width of their own.
void require_head_width(const MeasuredRow& row) {
  if (*row.hidden % *row.heads == 0) return;
  throw Error("hidden", fmt::format("{} does not divide by {} heads", *row.hidden, *row.heads),
              "check the row");
}

model::Attention heads_of(const MeasuredRow& row) {
  model::Attention attention;
  attention.heads = *row.heads;
  attention.kv_heads = *row.kv_heads;
  attention.head_dim = row.head_dim.value_or(*row.hidden / *row.heads);
  attention.value_head_dim = attention.head_dim;
  return attention;
}

// Megatron-Core's defaults of --multi-latent-attention (arguments of its TransformerConfig).
void make_latent(model::Attention& attention) {
  attention.kind = model::AttentionKind::latent;
  attention.kv_heads = attention.heads;
  attention.kv_lora_rank = 512;
  attention.rope_head_dim = 64;
  attention.head_dim = 128 + attention.rope_head_dim;
  attention.value_head_dim = 128;
}

model::FeedForward feed_forward_of(const MeasuredRow& row, ModelStyle style) {
  model::FeedForward ffn;
  ffn.gated = is_gated(row, style);
  ffn.activation = ffn.gated ? model::ActivationKind::silu : model::ActivationKind::gelu;
  if (!row.experts) {
    ffn.width = *row.ffn;
    return ffn;
  }
  ffn.kind = model::FeedForwardKind::experts;
  ffn.experts = *row.experts;
  ffn.active_experts = *row.active_experts;
  ffn.expert_width = *row.ffn;
  constexpr std::string_view kShared = "moe-shared-expert-intermediate-size";
  const std::string_view shared = row.fact(kShared);
  if (!shared.empty()) ffn.shared_width = parse_count(shared, std::string(kShared));
  return ffn;
}

void set_biases(model::LayerKind& layer, bool bias) {
  layer.attention.qkv_bias = bias;
  layer.attention.output_bias = bias;
  layer.feed_forward.bias = bias;
}

void set_norms(model::ModelConfig& config, model::LayerKind& layer, model::NormKind norm,
               bool bias) {
  layer.norm = norm;
  layer.norm_bias = bias;
  config.norm = norm;
  config.norm_bias = bias;
}

void set_dropout(model::ModelConfig& config, double dropout) {
  config.dropout = dropout;
  config.attention_dropout = dropout;
  config.embedding_dropout = dropout;
}

void learn_positions(model::ModelConfig& config, const MeasuredRow& row) {
  config.position = model::PositionKind::learned;
  config.position_rows = row.seq_len.value_or(0);
}

void style_gpt2(model::ModelConfig& config, model::LayerKind& layer, const MeasuredRow& row) {
  set_norms(config, layer, model::NormKind::layer_norm, true);
  set_biases(layer, true);
  learn_positions(config, row);
  config.tied = true;
  set_dropout(config, kMegatronDropout);
}

void style_mpt(model::ModelConfig& config, model::LayerKind& layer) {
  set_norms(config, layer, model::NormKind::layer_norm, false);
  config.position = model::PositionKind::alibi;
  config.tied = true;
}

void style_llama(model::ModelConfig& config, model::LayerKind& layer, const MeasuredRow& row) {
  set_norms(config, layer, model::NormKind::rms_norm, false);
  config.tied = row.says("tied embeddings") || row.says("embeddings tied");
  if (folded_model_name(row.model).substr(0, 8) == "internlm") {
    layer.attention.qkv_bias = true;
    layer.attention.output_bias = true;
  }
}

void style_megatron(model::ModelConfig& config, model::LayerKind& layer, const MeasuredRow& row) {
  const bool rms = row.fact("normalization") == "RMSNorm";
  set_norms(config, layer, rms ? model::NormKind::rms_norm : model::NormKind::layer_norm, !rms);
  set_biases(layer, !row.is_on("disable-bias-linear"));
  if (row.experts) layer.feed_forward.bias = false;  // grouped products have none
  if (row.fact("position-embedding-type").empty()) learn_positions(config, row);
  config.tied = !row.is_on("untie-embeddings-and-output-weights");
  set_dropout(config, kMegatronDropout);
  if (row.is_on("multi-latent-attention")) make_latent(layer.attention);
  if (row.is_on("qk-layernorm") || contains(row.model, "qk_layernorm")) {
    layer.attention.qk_norm = model::QkNorm::per_head;
  }
}

}  // namespace

std::optional<model::ModelConfig> model_of(const MeasuredRow& published, ModelStyle style,
                                           Catalogue& catalogue, Findings& findings) {
  MeasuredRow row = published;
  fill_published_sizes(row, findings);
  require_sizes(row, findings);
  if (!findings.missing.empty()) return std::nullopt;
  refuse_depth(row);
  fill_defaults(row, style, findings);
  if (!findings.missing.empty()) return std::nullopt;
  require_consistent(row);
  if (style == ModelStyle::llama) {
    if (auto config = family_model(row, catalogue)) return config;
  }
  if (!row.is_on("multi-latent-attention") && !row.head_dim) require_head_width(row);
  model::ModelConfig config;
  config.name = row.model;
  config.vocab = *row.vocab;
  config.hidden = *row.hidden;
  config.embedding_width = *row.hidden;
  model::LayerKind layer;
  layer.attention = heads_of(row);
  layer.feed_forward = feed_forward_of(row, style);
  switch (style) {
    case ModelStyle::gpt2:
      style_gpt2(config, layer, row);
      break;
    case ModelStyle::mpt:
      style_mpt(config, layer);
      break;
    case ModelStyle::llama:
      style_llama(config, layer, row);
      break;
    case ModelStyle::megatron:
      style_megatron(config, layer, row);
      break;
  }
  config.kinds = {layer};
  config.layers.assign(static_cast<std::size_t>(*row.layers), 0);
  return config;
}

}  // namespace fourhold::measured
