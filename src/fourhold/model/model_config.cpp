#include "fourhold/model/model_config.h"

#include <tuple>

namespace fourhold::model {
namespace {

// The fields of each struct once, as the tuple that equality compares.
auto fields(const Attention& a) {
  return std::tie(a.kind, a.heads, a.kv_heads, a.head_dim, a.value_head_dim, a.qkv_bias,
                  a.output_bias, a.qk_norm, a.sinks, a.window, a.score_softcap, a.q_lora_rank,
                  a.kv_lora_rank, a.rope_head_dim);
}

auto fields(const FeedForward& f) {
  return std::tie(f.kind, f.activation, f.gated, f.bias, f.width, f.experts, f.active_experts,
                  f.expert_width, f.shared_width, f.shared_gate, f.router_bias, f.correction_bias);
}

}  // namespace

bool operator==(const LayerKind& a, const LayerKind& b) {
  return a.norm == b.norm && a.placement == b.placement && a.norm_bias == b.norm_bias &&
         fields(a.attention) == fields(b.attention) &&
         fields(a.feed_forward) == fields(b.feed_forward);
}

}  // namespace fourhold::model
