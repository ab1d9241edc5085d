#include "fourhold/model/config_difference.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

namespace fourhold::model {
namespace {

class Differences {
 public:
  template <typename T>
  void compare(std::string_view field, const T& saved, const T& here) {
    if (saved == here) return;
    lines_.push_back(fmt::format("{}{} is {}, here {}", place_, field, text(saved), text(here)));
  }
  void set_place(std::string place) { place_ = std::move(place); }
  [[nodiscard]] std::vector<std::string> take() { return std::move(lines_); }

 private:
  template <typename T>
  static std::string text(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return fmt::format("kind {}", static_cast<int>(value));
    } else {
      return fmt::format("{}", value);
    }
  }

  std::vector<std::string> lines_;
  std::string place_;
};

void compare_attention(const Attention& a, const Attention& b, Differences& out) {
  out.compare("attention.kind", a.kind, b.kind);
  out.compare("attention.heads", a.heads, b.heads);
  out.compare("attention.kv_heads", a.kv_heads, b.kv_heads);
  out.compare("attention.head_dim", a.head_dim, b.head_dim);
  out.compare("attention.value_head_dim", a.value_head_dim, b.value_head_dim);
  out.compare("attention.qkv_bias", a.qkv_bias, b.qkv_bias);
  out.compare("attention.output_bias", a.output_bias, b.output_bias);
  out.compare("attention.qk_norm", a.qk_norm, b.qk_norm);
  out.compare("attention.sinks", a.sinks, b.sinks);
  out.compare("attention.window", a.window, b.window);
  out.compare("attention.score_softcap", a.score_softcap, b.score_softcap);
  out.compare("attention.q_lora_rank", a.q_lora_rank, b.q_lora_rank);
  out.compare("attention.kv_lora_rank", a.kv_lora_rank, b.kv_lora_rank);
  out.compare("attention.rope_head_dim", a.rope_head_dim, b.rope_head_dim);
}

void compare_feed_forward(const FeedForward& a, const FeedForward& b, Differences& out) {
  out.compare("feed_forward.kind", a.kind, b.kind);
  out.compare("feed_forward.activation", a.activation, b.activation);
  out.compare("feed_forward.gated", a.gated, b.gated);
  out.compare("feed_forward.bias", a.bias, b.bias);
  out.compare("feed_forward.width", a.width, b.width);
  out.compare("feed_forward.experts", a.experts, b.experts);
  out.compare("feed_forward.active_experts", a.active_experts, b.active_experts);
  out.compare("feed_forward.expert_width", a.expert_width, b.expert_width);
  out.compare("feed_forward.shared_width", a.shared_width, b.shared_width);
  out.compare("feed_forward.shared_gate", a.shared_gate, b.shared_gate);
  out.compare("feed_forward.router_bias", a.router_bias, b.router_bias);
  out.compare("feed_forward.correction_bias", a.correction_bias, b.correction_bias);
}

const LayerKind& kind_of(const ModelConfig& config, std::size_t layer) {
  return config.kinds[static_cast<std::size_t>(config.layers[layer])];
}

void compare_layers(const ModelConfig& saved, const ModelConfig& here, Differences& out) {
  const std::size_t layers = std::min(saved.layers.size(), here.layers.size());
  for (std::size_t i = 0; i < layers; ++i) {
    const LayerKind& a = kind_of(saved, i);
    const LayerKind& b = kind_of(here, i);
    if (a == b) continue;
    out.set_place(fmt::format("layer {}: ", i));
    out.compare("norm", a.norm, b.norm);
    out.compare("placement", a.placement, b.placement);
    out.compare("norm_bias", a.norm_bias, b.norm_bias);
    compare_attention(a.attention, b.attention, out);
    compare_feed_forward(a.feed_forward, b.feed_forward, out);
    return;  // the first layer says it; the others mostly repeat it
  }
}

}  // namespace

std::vector<std::string> config_differences(const ModelConfig& saved, const ModelConfig& here) {
  Differences out;
  out.compare("model_type", saved.model_type, here.model_type);
  out.compare("vocab", saved.vocab, here.vocab);
  out.compare("hidden", saved.hidden, here.hidden);
  out.compare("layers", saved.layer_count(), here.layer_count());
  out.compare("max_positions", saved.max_positions, here.max_positions);
  out.compare("position", saved.position, here.position);
  out.compare("position_rows", saved.position_rows, here.position_rows);
  out.compare("embedding_width", saved.embedding_width, here.embedding_width);
  out.compare("rotary_fraction", saved.rotary_fraction, here.rotary_fraction);
  out.compare("tied", saved.tied, here.tied);
  out.compare("head_bias", saved.head_bias, here.head_bias);
  out.compare("embedding_norm", saved.embedding_norm, here.embedding_norm);
  out.compare("final_norm", saved.final_norm, here.final_norm);
  out.compare("norm", saved.norm, here.norm);
  out.compare("norm_bias", saved.norm_bias, here.norm_bias);
  out.compare("logit_softcap", saved.logit_softcap, here.logit_softcap);
  out.compare("dropout", saved.dropout, here.dropout);
  out.compare("attention_dropout", saved.attention_dropout, here.attention_dropout);
  out.compare("embedding_dropout", saved.embedding_dropout, here.embedding_dropout);
  compare_layers(saved, here, out);
  return out.take();
}

}  // namespace fourhold::model
