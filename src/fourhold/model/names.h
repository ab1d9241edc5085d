// The one source of tensor names: parameters, activations, ledger keys and checkpoint keys.
//
// A tensor is named by an enumerator and spelled only when printed: keys stay small and comparable.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fourhold::model {

// The blocks a model is made of, in the order they run.
enum class Block : std::uint8_t { embedding, layer, head };

[[nodiscard]] constexpr std::string_view to_string(Block block) {
  constexpr std::array<std::string_view, 3> texts{"embedding", "layer", "head"};
  return texts[static_cast<std::size_t>(block)];
}

// Canonical parameters first, then what a step makes. q, k, v, gate and up are always separate
// parameters; a packed group joins them for one GEMM.
enum class TensorName : std::uint8_t {
  // parameters of the embedding block
  token_embedding,
  position_embedding,
  embedding_projection,  // opt-350m: embedding_width -> hidden
  embedding_norm_weight,
  embedding_norm_bias,
  // parameters of one layer
  norm1_weight,  // before the attention; the only one of parallel_one_norm
  norm1_bias,
  q_weight,
  q_bias,
  k_weight,
  k_bias,
  v_weight,
  v_bias,
  q_norm_weight,
  k_norm_weight,
  sinks,
  q_down_weight,  // latent attention
  q_latent_norm_weight,
  q_up_weight,
  kv_down_weight,
  kv_latent_norm_weight,
  kv_up_weight,
  o_weight,
  o_bias,
  attention_linear_weight,  // attention replaced by one matrix
  attention_post_norm_weight,
  attention_post_norm_bias,
  norm2_weight,  // before the feed-forward
  norm2_bias,
  gate_weight,
  gate_bias,
  up_weight,
  up_bias,
  down_weight,
  down_bias,
  feed_forward_linear_weight,  // feed-forward replaced by one matrix
  router_weight,
  router_bias,
  correction_bias,
  expert_gate_weight,
  expert_gate_bias,
  expert_up_weight,
  expert_up_bias,
  expert_down_weight,
  expert_down_bias,
  shared_gate_weight,
  shared_up_weight,
  shared_down_weight,
  shared_expert_gate_weight,  // hidden -> 1, scales the shared expert
  feed_forward_post_norm_weight,
  feed_forward_post_norm_bias,
  // parameters of the head block
  final_norm_weight,
  final_norm_bias,
  prediction_token_norm_weight,  // multi-token prediction: of the next token's embedding
  prediction_token_norm_bias,
  prediction_hidden_norm_weight,  // of the hidden states it is joined with
  prediction_hidden_norm_bias,
  prediction_projection,  // 2 hidden -> hidden
  prediction_final_norm_weight,
  prediction_final_norm_bias,
  head_projection,  // opt-350m: hidden -> embedding_width
  head_weight,
  head_bias,

  // activations
  token_ids,
  targets,
  hidden_states,  // the residual stream entering a block
  embedded,
  embedding_projected,
  embedding_mask,
  embedding_norm_statistics,
  embedding_norm_wide,
  embedding_norm_normalised,
  embedding_norm_out,
  norm1_statistics,
  norm1_wide,  // fp32 copy that an unfused norm keeps
  norm1_normalised,
  norm1_out,
  q,
  k,
  v,
  q_norm_statistics,
  q_norm_wide,
  q_norm_normalised,
  k_norm_statistics,
  k_norm_wide,
  k_norm_normalised,
  q_normed,
  k_normed,
  q_rotated,
  k_rotated,
  q_latent,
  q_latent_statistics,
  q_latent_wide,
  q_latent_normalised,
  q_latent_normed,
  kv_latent,  // kv_lora_rank + rope_head_dim wide
  kv_latent_statistics,
  kv_latent_wide,
  kv_latent_normalised,
  kv_latent_normed,
  kv_compressed,  // the kv_lora_rank columns of kv_latent
  k_rotary,       // its rope_head_dim columns, shared by all heads
  k_and_v,
  scores,
  probabilities,
  probabilities_cast,
  attention_mask,
  probabilities_dropped,
  log_sum_exp,
  attention_row_sums,  // of output x its gradient, in the backward of fused attention
  attention_out,
  attention_merged,
  k_copied,
  v_copied,
  o_out,
  attention_post_norm_statistics,
  attention_post_norm_wide,
  attention_post_norm_normalised,
  attention_post_norm_out,
  attention_residual_mask,
  attention_dropped,
  hidden_states_mid,  // the residual stream between attention and feed-forward
  norm2_statistics,
  norm2_wide,
  norm2_normalised,
  norm2_out,
  gate,
  up,
  activated,  // silu(gate) when the gate is not fused
  product,    // the input of the down projection
  down_out,
  router_logits,
  router_probabilities,
  expert_indices,
  row_weights,  // routing weight of each permuted row
  row_weights_dispatched,
  permuted,
  dispatched,
  expert_gate,
  expert_up,
  expert_activated,
  expert_product,
  expert_out,
  returned,
  combined,
  shared_gate,
  shared_up,
  shared_activated,
  shared_product,
  shared_out,
  shared_gate_score,
  shared_scaled,
  feed_forward_out,
  feed_forward_post_norm_statistics,
  feed_forward_post_norm_wide,
  feed_forward_post_norm_normalised,
  feed_forward_post_norm_out,
  feed_forward_residual_mask,
  feed_forward_dropped,
  hidden_states_out,
  final_norm_statistics,
  final_norm_wide,
  final_norm_normalised,
  final_norm_out,
  prediction_token_norm_statistics,
  prediction_token_norm_wide,
  prediction_token_norm_normalised,
  prediction_token_norm_out,
  prediction_hidden_norm_statistics,
  prediction_hidden_norm_wide,
  prediction_hidden_norm_normalised,
  prediction_hidden_norm_out,
  prediction_joined,     // both norms' results, 2 hidden wide
  prediction_projected,  // the input of the layer
  prediction_final_norm_statistics,
  prediction_final_norm_wide,
  prediction_final_norm_normalised,
  prediction_final_norm_out,
  head_projected,
  logits,
  logits_gathered,  // from all ranks of tp
  logits_wide,
  log_softmax,
  logits_capped,
  head_input_gradient,  // made by the chunked loss in its forward
  loss,
  loss_token_count,
  gradient_norm,
  k_cache,  // of the tokens read so far, of a program that generates text
  v_cache,
  kernel_scratch,  // what a kernel of the engine takes beside its operands
};
inline constexpr int kParameterNameCount = static_cast<int>(TensorName::head_bias) + 1;
inline constexpr int kTensorNameCount = static_cast<int>(TensorName::kernel_scratch) + 1;

// The spelling used in keys and tables: the enumerator itself.
[[nodiscard]] std::string_view to_string(TensorName name);

[[nodiscard]] constexpr bool is_parameter(TensorName name) {
  return static_cast<int>(name) < kParameterNameCount;
}

// One parameter of a model.
struct ParameterId {
  static constexpr std::int32_t kNoLayer = -1;

  Block block = Block::embedding;
  std::int32_t layer = kNoLayer;  // 0, 1, 2 ... in Block::layer, else kNoLayer
  TensorName name = TensorName::token_embedding;
  friend constexpr bool operator==(const ParameterId&, const ParameterId&) = default;
};
// "layer.3.q_weight", "head.final_norm_weight": the spelling of ledger keys.
[[nodiscard]] std::string to_string(const ParameterId& id);

// How published weight files spell and lay out parameters; model types share a style.
enum class PublishedStyle : std::uint8_t { gpt2, llama, phi3 };

// The style of a model type ("qwen3"); no value for types whose files are not described here.
[[nodiscard]] std::optional<PublishedStyle> published_style(std::string_view model_type);
// The model types that have one, sorted.
[[nodiscard]] std::vector<std::string_view> published_model_types();

struct PublishedName {
  TensorName name = TensorName::token_embedding;
  std::string_view text;    // with '#' for the layer's number
  bool transposed = false;  // stored [in, out], as GPT-2's Conv1D multiplies; else [out, in]
};

// The names of a style in the order of TensorName. Parameters of one text are stored as one tensor,
// the rows of each below those of the one before: GPT-2's c_attn is q, k, v.
[[nodiscard]] std::span<const PublishedName> published_names(PublishedStyle style);
// The whole model's name of its trunk, which files saved from the trunk alone leave out.
[[nodiscard]] std::string_view published_trunk(PublishedStyle style);

}  // namespace fourhold::model
