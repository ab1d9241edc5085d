#include "tests/interpreter/models.h"

#include <utility>

namespace fourhold::interpreter {
namespace {

using model::ActivationKind;
using model::LayerKind;
using model::ModelConfig;
using model::NormKind;
using model::NormPlacement;
using model::PositionKind;
using model::QkNorm;

constexpr std::int64_t kHidden = 8;
constexpr std::int64_t kHeads = 4;
constexpr std::int64_t kHeadDim = 4;
constexpr std::int64_t kVocab = 11;  // divides into nothing: every split pads it
constexpr std::int64_t kPositions = 8;

// A Llama of `layers` layers; the other models are told by what they change in it.
ModelConfig base(std::int64_t layers) {
  ModelConfig config;
  config.vocab = kVocab;
  config.hidden = kHidden;
  config.embedding_width = kHidden;
  config.max_positions = kPositions;
  config.norm = NormKind::rms_norm;
  LayerKind kind;
  kind.norm = NormKind::rms_norm;
  kind.attention.heads = kHeads;
  kind.attention.kv_heads = 2;
  kind.attention.head_dim = kHeadDim;
  kind.attention.value_head_dim = kHeadDim;
  kind.feed_forward.activation = ActivationKind::silu;
  kind.feed_forward.gated = true;
  kind.feed_forward.width = 12;
  config.kinds = {kind};
  config.layers.assign(static_cast<std::size_t>(layers), 0);
  return config;
}

LayerKind& kind_of(ModelConfig& config) { return config.kinds[0]; }

// Layer norms with biases and biases in every linear, as in GPT-2.
void use_biases(ModelConfig& config) {
  config.norm = NormKind::layer_norm;
  config.norm_bias = true;
  LayerKind& kind = kind_of(config);
  kind.norm = NormKind::layer_norm;
  kind.norm_bias = true;
  kind.attention.qkv_bias = true;
  kind.attention.output_bias = true;
  kind.feed_forward.bias = true;
}

void use_experts(ModelConfig& config) {
  model::FeedForward& ffn = kind_of(config).feed_forward;
  ffn.kind = model::FeedForwardKind::experts;
  ffn.width = 0;
  ffn.experts = 4;
  ffn.active_experts = 2;
  ffn.expert_width = 8;
}

}  // namespace

ModelConfig tiny_gpt2(std::int64_t layers) {
  ModelConfig config = base(layers);
  use_biases(config);
  config.position = PositionKind::learned;
  config.position_rows = kPositions;
  config.tied = true;
  kind_of(config).attention.kv_heads = kHeads;
  kind_of(config).feed_forward.gated = false;
  kind_of(config).feed_forward.activation = ActivationKind::gelu;
  return config;
}

ModelConfig tiny_llama(std::int64_t layers) { return base(layers); }

ModelConfig tiny_mixtral(std::int64_t layers) {
  ModelConfig config = base(layers);
  use_experts(config);
  return config;
}

ModelConfig tiny_qwen2_moe(std::int64_t layers) {
  ModelConfig config = base(layers);
  use_experts(config);
  kind_of(config).attention.qkv_bias = true;
  kind_of(config).feed_forward.shared_width = 12;
  kind_of(config).feed_forward.shared_gate = true;
  return config;
}

ModelConfig tiny_gpt_oss(std::int64_t layers) {
  ModelConfig config = base(layers);
  use_experts(config);
  LayerKind& kind = kind_of(config);
  kind.attention.qkv_bias = true;
  kind.attention.output_bias = true;
  kind.attention.sinks = true;
  kind.feed_forward.bias = true;
  kind.feed_forward.router_bias = true;
  LayerKind windowed = kind;
  windowed.attention.window = 3;
  config.kinds.push_back(windowed);
  for (std::size_t i = 0; i < config.layers.size(); i += 2) config.layers[i] = 1;
  return config;
}

ModelConfig tiny_deepseek(std::int64_t layers, std::int64_t q_lora_rank) {
  ModelConfig config = base(layers);
  LayerKind& kind = kind_of(config);
  kind.attention.kind = model::AttentionKind::latent;
  kind.attention.kv_heads = kHeads;
  kind.attention.head_dim = 6;  // 4 + 2 rotated
  kind.attention.value_head_dim = 3;
  kind.attention.q_lora_rank = q_lora_rank;
  kind.attention.kv_lora_rank = 4;
  kind.attention.rope_head_dim = 2;
  // The first layer is dense, the others have experts.
  LayerKind experts = kind;
  config.kinds.push_back(experts);
  std::swap(config.kinds[0], config.kinds[1]);
  use_experts(config);
  std::swap(config.kinds[0], config.kinds[1]);
  config.kinds[1].feed_forward.shared_width = 8;
  config.kinds[1].feed_forward.correction_bias = true;
  for (std::size_t i = 1; i < config.layers.size(); ++i) config.layers[i] = 1;
  return config;
}

ModelConfig tiny_gemma2(std::int64_t layers) {
  ModelConfig config = base(layers);
  config.tied = true;
  config.logit_softcap = 3;
  LayerKind& kind = kind_of(config);
  kind.placement = NormPlacement::sandwich;
  kind.attention.score_softcap = 2;
  kind.feed_forward.activation = ActivationKind::gelu;
  LayerKind windowed = kind;
  windowed.attention.window = 3;
  config.kinds.push_back(windowed);
  for (std::size_t i = 0; i < config.layers.size(); i += 2) config.layers[i] = 1;
  return config;
}

ModelConfig tiny_olmo2(std::int64_t layers) {
  ModelConfig config = base(layers);
  kind_of(config).placement = NormPlacement::post_branch;
  kind_of(config).attention.qk_norm = QkNorm::full_width;
  return config;
}

ModelConfig tiny_qwen3(std::int64_t layers) {
  ModelConfig config = base(layers);
  kind_of(config).attention.qk_norm = QkNorm::per_head;
  return config;
}

ModelConfig tiny_falcon(std::int64_t layers) {
  ModelConfig config = base(layers);
  config.norm = NormKind::layer_norm;
  config.norm_bias = true;
  config.tied = true;
  LayerKind& kind = kind_of(config);
  kind.norm = NormKind::layer_norm;
  kind.norm_bias = true;
  kind.placement = NormPlacement::parallel_one_norm;
  kind.attention.kv_heads = 1;
  kind.feed_forward.gated = false;
  kind.feed_forward.activation = ActivationKind::gelu;
  return config;
}

ModelConfig tiny_neox(std::int64_t layers) {
  ModelConfig config = base(layers);
  use_biases(config);
  config.rotary_fraction = 0.5;
  kind_of(config).placement = NormPlacement::parallel_two_norms;
  kind_of(config).attention.kv_heads = kHeads;
  kind_of(config).feed_forward.gated = false;
  kind_of(config).feed_forward.activation = ActivationKind::gelu;
  return config;
}

ModelConfig tiny_opt(std::int64_t layers) {
  ModelConfig config = base(layers);
  use_biases(config);
  config.position = PositionKind::learned;
  config.position_rows = kPositions + 2;
  config.embedding_width = 6;
  config.final_norm = false;
  config.tied = true;
  kind_of(config).placement = NormPlacement::post_add;
  kind_of(config).attention.kv_heads = kHeads;
  kind_of(config).feed_forward.gated = false;
  kind_of(config).feed_forward.activation = ActivationKind::relu;
  return config;
}

ModelConfig tiny_bloom(std::int64_t layers) {
  ModelConfig config = tiny_gpt2(layers);
  config.position = PositionKind::alibi;
  config.position_rows = 0;
  config.embedding_norm = true;
  config.head_bias = true;
  return config;
}

ModelConfig tiny_nemotron() {
  ModelConfig config = base(0);
  const LayerKind plain = kind_of(config);
  LayerKind one_kv_head = plain;
  one_kv_head.attention.kv_heads = 1;
  LayerKind no_attention = plain;
  no_attention.attention.kind = model::AttentionKind::none;
  LayerKind linear = plain;
  linear.attention.kind = model::AttentionKind::linear;
  linear.feed_forward.kind = model::FeedForwardKind::linear;
  LayerKind no_feed_forward = plain;
  no_feed_forward.feed_forward.kind = model::FeedForwardKind::none;
  LayerKind nothing = no_attention;
  nothing.feed_forward.kind = model::FeedForwardKind::none;
  config.kinds = {plain, one_kv_head, no_attention, linear, no_feed_forward, nothing};
  config.layers = {1, 2, 5, 3, 4, 0};
  return config;
}

ModelConfig with_dropout(ModelConfig config) {
  config.dropout = 0.2;
  config.attention_dropout = 0.3;
  config.embedding_dropout = 0.1;
  return config;
}

std::vector<NamedModel> all_models(std::int64_t layers) {
  return {{"gpt2", tiny_gpt2(layers)},
          {"gpt2 with dropout", with_dropout(tiny_gpt2(layers))},
          {"llama", tiny_llama(layers)},
          {"mixtral", tiny_mixtral(layers)},
          {"qwen2_moe", tiny_qwen2_moe(layers)},
          {"gpt_oss", tiny_gpt_oss(layers)},
          {"deepseek", tiny_deepseek(layers, 0)},
          {"deepseek with a q latent", tiny_deepseek(layers, 5)},
          {"gemma2", tiny_gemma2(layers)},
          {"olmo2", tiny_olmo2(layers)},
          {"qwen3", tiny_qwen3(layers)},
          {"falcon", tiny_falcon(layers)},
          {"neox", tiny_neox(layers)},
          {"opt", tiny_opt(layers)},
          {"bloom", tiny_bloom(layers)},
          {"nemotron", tiny_nemotron()}};
}

}  // namespace fourhold::interpreter
