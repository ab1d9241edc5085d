#include "fourhold/model/parameters.h"

#include <utility>

#include "fourhold/base/checked.h"

namespace fourhold::model {
namespace {

// Collects the parameters of a block in the order they are used.
class Collector {
 public:
  void matrix(TensorName name, const Shape& shape) { add(name, shape, ParameterRole::matrix); }
  void embedding(TensorName name, const Shape& shape) {
    add(name, shape, ParameterRole::embedding);
  }
  void vector(TensorName name, const Shape& shape) { add(name, shape, ParameterRole::vector); }
  void buffer(TensorName name, const Shape& shape) { add(name, shape, ParameterRole::buffer); }

  // A norm's weight and, where the model has one, its bias; both over the hidden size.
  void norm(TensorName weight, TensorName bias, Extent hidden, bool with_bias) {
    vector(weight, {hidden});
    if (with_bias) vector(bias, {hidden});
  }

  [[nodiscard]] std::vector<Parameter> take() { return std::move(parameters_); }

 private:
  void add(TensorName name, const Shape& shape, ParameterRole role) {
    parameters_.push_back({name, shape, role});
  }
  std::vector<Parameter> parameters_;
};

// Rows and columns of the projections around a narrower embedding (opt-350m).
bool has_embedding_projection(const ModelConfig& config) {
  return config.embedding_width != config.hidden;
}
Extent embedding_extent(const ModelConfig& config) {
  return {has_embedding_projection(config) ? Dim::other : Dim::hidden, config.embedding_width};
}

void add_head_attention(const Attention& attention, Extent hidden, Collector& out) {
  const Extent heads{Dim::heads, attention.heads};
  const Extent kv_heads{Dim::kv_heads, attention.kv_heads};
  const Extent head_dim{Dim::head_dim, attention.head_dim};
  const Extent value_dim{Dim::head_dim, attention.value_head_dim};

  out.matrix(TensorName::q_weight, {heads, head_dim, hidden});
  if (attention.qkv_bias) out.vector(TensorName::q_bias, {heads, head_dim});
  out.matrix(TensorName::k_weight, {kv_heads, head_dim, hidden});
  if (attention.qkv_bias) out.vector(TensorName::k_bias, {kv_heads, head_dim});
  out.matrix(TensorName::v_weight, {kv_heads, value_dim, hidden});
  if (attention.qkv_bias) out.vector(TensorName::v_bias, {kv_heads, value_dim});
  if (attention.qk_norm == QkNorm::per_head) {
    out.vector(TensorName::q_norm_weight, {head_dim});
    out.vector(TensorName::k_norm_weight, {head_dim});
  } else if (attention.qk_norm == QkNorm::full_width) {
    out.vector(TensorName::q_norm_weight, {heads, head_dim});
    out.vector(TensorName::k_norm_weight, {kv_heads, head_dim});
  }
  if (attention.sinks) out.vector(TensorName::sinks, {heads});
}

// Latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1): q and k, v pass through low-rank
// latents; the rotated part of k is one vector shared by all heads.
void add_latent_attention(const Attention& attention, Extent hidden, Collector& out) {
  const Extent heads{Dim::heads, attention.heads};
  const Extent head_dim{Dim::head_dim, attention.head_dim};
  if (attention.q_lora_rank == 0) {
    out.matrix(TensorName::q_weight, {heads, head_dim, hidden});
  } else {
    const Extent q_latent{Dim::latent, attention.q_lora_rank};
    out.matrix(TensorName::q_down_weight, {q_latent, hidden});
    out.vector(TensorName::q_latent_norm_weight, {q_latent});
    out.matrix(TensorName::q_up_weight, {heads, head_dim, q_latent});
  }
  const Extent kv_latent{Dim::latent, attention.kv_lora_rank};
  const Extent down{Dim::latent, checked_add(attention.kv_lora_rank, attention.rope_head_dim)};
  const Extent k_and_v{Dim::other, checked_add(attention.head_dim - attention.rope_head_dim,
                                               attention.value_head_dim)};
  out.matrix(TensorName::kv_down_weight, {down, hidden});
  out.vector(TensorName::kv_latent_norm_weight, {kv_latent});
  out.matrix(TensorName::kv_up_weight, {heads, k_and_v, kv_latent});
}

void add_attention(const Attention& attention, Extent hidden, Collector& out) {
  if (attention.kind == AttentionKind::linear) {
    out.matrix(TensorName::attention_linear_weight, {hidden, hidden});
    return;
  }
  if (attention.kind == AttentionKind::latent) {
    add_latent_attention(attention, hidden, out);
  } else {
    add_head_attention(attention, hidden, out);
  }
  const Extent heads{Dim::heads, attention.heads};
  const Extent value_dim{Dim::head_dim, attention.value_head_dim};
  out.matrix(TensorName::o_weight, {hidden, heads, value_dim});
  if (attention.output_bias) out.vector(TensorName::o_bias, {hidden});
}

void add_dense(const FeedForward& feed_forward, Extent hidden, Collector& out) {
  const Extent ffn{Dim::ffn, feed_forward.width};
  if (feed_forward.gated) {
    out.matrix(TensorName::gate_weight, {ffn, hidden});
    if (feed_forward.bias) out.vector(TensorName::gate_bias, {ffn});
  }
  out.matrix(TensorName::up_weight, {ffn, hidden});
  if (feed_forward.bias) out.vector(TensorName::up_bias, {ffn});
  out.matrix(TensorName::down_weight, {hidden, ffn});
  if (feed_forward.bias) out.vector(TensorName::down_bias, {hidden});
}

// The router is replicated on every rank, so its rows are not a dimension that experts split.
void add_experts(const FeedForward& feed_forward, Extent hidden, Collector& out) {
  const Extent scores{Dim::other, feed_forward.experts};
  const Extent experts{Dim::experts, feed_forward.experts};
  const Extent ffn{Dim::expert_ffn, feed_forward.expert_width};
  out.matrix(TensorName::router_weight, {scores, hidden});
  if (feed_forward.router_bias) out.vector(TensorName::router_bias, {scores});
  if (feed_forward.correction_bias) out.buffer(TensorName::correction_bias, {scores});

  if (feed_forward.gated) {
    out.matrix(TensorName::expert_gate_weight, {experts, ffn, hidden});
    if (feed_forward.bias) out.vector(TensorName::expert_gate_bias, {experts, ffn});
  }
  out.matrix(TensorName::expert_up_weight, {experts, ffn, hidden});
  if (feed_forward.bias) out.vector(TensorName::expert_up_bias, {experts, ffn});
  out.matrix(TensorName::expert_down_weight, {experts, hidden, ffn});
  if (feed_forward.bias) out.vector(TensorName::expert_down_bias, {experts, hidden});

  if (feed_forward.shared_width == 0) return;
  const Extent shared{Dim::ffn, feed_forward.shared_width};
  if (feed_forward.gated) out.matrix(TensorName::shared_gate_weight, {shared, hidden});
  out.matrix(TensorName::shared_up_weight, {shared, hidden});
  out.matrix(TensorName::shared_down_weight, {hidden, shared});
  if (feed_forward.shared_gate) {
    out.matrix(TensorName::shared_expert_gate_weight, {{Dim::other, 1}, hidden});
  }
}

void add_feed_forward(const FeedForward& feed_forward, Extent hidden, Collector& out) {
  if (feed_forward.kind == FeedForwardKind::linear) {
    out.matrix(TensorName::feed_forward_linear_weight, {hidden, hidden});
  } else if (feed_forward.kind == FeedForwardKind::dense) {
    add_dense(feed_forward, hidden, out);
  } else {
    add_experts(feed_forward, hidden, out);
  }
}

bool norm_after(NormPlacement placement) {
  return placement == NormPlacement::post_branch || placement == NormPlacement::post_add ||
         placement == NormPlacement::sandwich;
}

// Routed experts a token does not pass: what `active` leaves out of one layer.
std::int64_t idle_elements(const FeedForward& feed_forward,
                           const std::vector<Parameter>& parameters) {
  if (feed_forward.kind != FeedForwardKind::experts) return 0;
  std::int64_t idle = 0;
  for (const Parameter& parameter : parameters) {
    if (parameter.shape.rank() == 0 || parameter.shape[0].dim != Dim::experts) continue;
    const std::int64_t one_expert = parameter.elements() / feed_forward.experts;
    idle += one_expert * (feed_forward.experts - feed_forward.active_experts);
  }
  return idle;
}

std::int64_t elements_of(const std::vector<Parameter>& parameters) {
  std::int64_t total = 0;
  for (const Parameter& parameter : parameters) {
    total = checked_add(total, parameter.elements());
  }
  return total;
}

}  // namespace

bool is_layer_matrix(const Parameter& parameter) {
  return parameter.role == ParameterRole::matrix && parameter.name >= TensorName::norm1_weight &&
         parameter.name <= TensorName::feed_forward_post_norm_bias;
}

std::vector<Parameter> embedding_parameters(const ModelConfig& config) {
  const Extent hidden{Dim::hidden, config.hidden};
  Collector out;
  out.embedding(TensorName::token_embedding,
                {{Dim::vocab, config.vocab}, embedding_extent(config)});
  if (has_embedding_projection(config)) {
    out.matrix(TensorName::embedding_projection, {hidden, embedding_extent(config)});
  }
  if (config.position == PositionKind::learned) {
    out.embedding(TensorName::position_embedding, {{Dim::positions, config.position_rows}, hidden});
  }
  if (config.embedding_norm) {
    out.norm(TensorName::embedding_norm_weight, TensorName::embedding_norm_bias, hidden,
             config.norm_bias);
  }
  return out.take();
}

std::vector<Parameter> layer_parameters(const ModelConfig& config, const LayerKind& kind) {
  const Extent hidden{Dim::hidden, config.hidden};
  const bool before = normalises_before(kind.placement);
  const bool after = norm_after(kind.placement);
  Collector out;
  if (kind.attention.kind != AttentionKind::none) {
    if (before) {
      out.norm(TensorName::norm1_weight, TensorName::norm1_bias, hidden, kind.norm_bias);
    }
    add_attention(kind.attention, hidden, out);
    if (after) {
      out.norm(TensorName::attention_post_norm_weight, TensorName::attention_post_norm_bias, hidden,
               kind.norm_bias);
    }
  }
  if (kind.feed_forward.kind != FeedForwardKind::none) {
    if (before && kind.placement != NormPlacement::parallel_one_norm) {
      out.norm(TensorName::norm2_weight, TensorName::norm2_bias, hidden, kind.norm_bias);
    }
    add_feed_forward(kind.feed_forward, hidden, out);
    if (after) {
      out.norm(TensorName::feed_forward_post_norm_weight, TensorName::feed_forward_post_norm_bias,
               hidden, kind.norm_bias);
    }
  }
  return out.take();
}

std::vector<Parameter> head_parameters(const ModelConfig& config) {
  const Extent hidden{Dim::hidden, config.hidden};
  const Extent vocab{Dim::vocab, config.vocab};
  Collector out;
  if (config.final_norm) {
    out.norm(TensorName::final_norm_weight, TensorName::final_norm_bias, hidden, config.norm_bias);
  }
  if (has_embedding_projection(config)) {
    out.matrix(TensorName::head_projection, {embedding_extent(config), hidden});
  }
  if (!config.tied) out.matrix(TensorName::head_weight, {vocab, embedding_extent(config)});
  if (config.head_bias) out.vector(TensorName::head_bias, {vocab});
  return out.take();
}

std::vector<Parameter> prediction_parameters(const ModelConfig& config, const LayerKind& kind) {
  const Extent hidden{Dim::hidden, config.hidden};
  Collector out;
  out.norm(TensorName::prediction_token_norm_weight, TensorName::prediction_token_norm_bias, hidden,
           config.norm_bias);
  out.norm(TensorName::prediction_hidden_norm_weight, TensorName::prediction_hidden_norm_bias,
           hidden, config.norm_bias);
  out.matrix(TensorName::prediction_projection,
             {{Dim::ffn, config.hidden}, {Dim::other, checked_multiply(2, config.hidden)}});
  std::vector<Parameter> parameters = out.take();
  for (const Parameter& parameter : layer_parameters(config, kind)) parameters.push_back(parameter);
  Collector behind;
  behind.norm(TensorName::prediction_final_norm_weight, TensorName::prediction_final_norm_bias,
              hidden, config.norm_bias);
  for (const Parameter& parameter : behind.take()) parameters.push_back(parameter);
  return parameters;
}

std::int64_t count_prediction_parameters(const ModelConfig& config, std::int64_t layers) {
  if (layers == 0) return 0;
  const LayerKind& last = config.kinds[static_cast<std::size_t>(config.layers.back())];
  return checked_multiply(layers, elements_of(prediction_parameters(config, last)));
}

ParameterCounts count_parameters(const ModelConfig& config) {
  ParameterCounts counts;
  const std::vector<Parameter> embedding = embedding_parameters(config);
  counts.embedding = embedding.front().elements();
  counts.total = checked_add(elements_of(embedding), elements_of(head_parameters(config)));

  std::vector<std::int64_t> copies(config.kinds.size(), 0);
  for (const std::int32_t layer : config.layers) ++copies[static_cast<std::size_t>(layer)];
  std::int64_t idle = 0;
  for (std::size_t i = 0; i < config.kinds.size(); ++i) {
    const std::vector<Parameter> parameters = layer_parameters(config, config.kinds[i]);
    const std::int64_t one = elements_of(parameters);
    counts.total = checked_add(counts.total, checked_multiply(one, copies[i]));
    idle += checked_multiply(idle_elements(config.kinds[i].feed_forward, parameters), copies[i]);
  }
  counts.active = counts.total - idle;
  return counts;
}

}  // namespace fourhold::model
