// A model as Fourhold sees it: plain numbers per kind of layer, free of any file format.
//
// Everything that counts (parameters, operations, bytes) is derived from this value and nothing
// else. Layers of equal shape share one LayerKind; `layers` says which kind each layer is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fourhold::model {

enum class NormKind : std::uint8_t { layer_norm, rms_norm };

// Where a layer normalises. `parallel*`: attention and feed-forward read the same residual and both
// add to it; `parallel_one_norm` (falcon-7b) shares one norm, `parallel_two_norms` has two.
enum class NormPlacement : std::uint8_t {
  pre,                 // norm -> attention -> add, norm -> ffn -> add
  post_branch,         // olmo2: attention -> norm -> add, ffn -> norm -> add
  sandwich,            // gemma2/3: norm -> attention -> norm -> add, the same for the ffn
  post_add,            // opt-350m: attention -> add -> norm
  parallel_one_norm,   // falcon-7b
  parallel_two_norms,  // gpt_neox, falcon new decoder
};

// Whether a branch reads a normalised copy of the residual.
[[nodiscard]] constexpr bool normalises_before(NormPlacement placement) {
  return placement != NormPlacement::post_branch && placement != NormPlacement::post_add;
}

enum class ActivationKind : std::uint8_t { gelu, relu, silu };

enum class PositionKind : std::uint8_t { none, learned, rotary, alibi };

enum class QkNorm : std::uint8_t {
  none,
  per_head,       // one weight of head_dim shared by all heads (qwen3, gemma3)
  full_width,     // one weight over all heads together (olmo2, minimax)
  without_weight  // llama4: no parameters
};

enum class AttentionKind : std::uint8_t {
  none,    // the block is absent (block_configs no_op)
  heads,   // MHA, GQA, MQA: q, k, v, o projections
  latent,  // MLA: low-rank q and kv (deepseek)
  linear   // replaced by one hidden x hidden matrix (block_configs replace_with_linear)
};

struct Attention {
  AttentionKind kind = AttentionKind::heads;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;        // of q and k; latent: nope + rope
  std::int64_t value_head_dim = 0;  // of v; equals head_dim but for latent
  bool qkv_bias = false;
  bool output_bias = false;
  QkNorm qk_norm = QkNorm::none;
  bool sinks = false;        // gpt_oss: one learned logit per head
  std::int64_t window = 0;   // sliding or chunked window in tokens, 0 = full causal
  double score_softcap = 0;  // gemma2: tanh cap of the scores, 0 = none
  // Latent attention only. q_lora_rank 0 = a plain q projection.
  std::int64_t q_lora_rank = 0;
  std::int64_t kv_lora_rank = 0;
  std::int64_t rope_head_dim =
      0;  // the part of head_dim that is rotated (shared across heads in k)
};

enum class FeedForwardKind : std::uint8_t { none, dense, experts, linear };

struct FeedForward {
  FeedForwardKind kind = FeedForwardKind::dense;
  ActivationKind activation = ActivationKind::gelu;
  bool gated = false;      // up and gate (SwiGLU, GeGLU): three matrices instead of two
  bool bias = false;       // biases of all its linears (experts: of every expert)
  std::int64_t width = 0;  // dense: f
  // Experts only.
  std::int64_t experts = 0;         // routed experts E
  std::int64_t active_experts = 0;  // top-k
  std::int64_t expert_width = 0;    // f of one routed expert
  std::int64_t shared_width = 0;    // total width of the always-active shared experts, 0 = none
  bool shared_gate = false;         // qwen2_moe: a hidden -> 1 gate on the shared expert
  bool router_bias = false;         // gpt_oss: the router linear has a bias
  bool correction_bias = false;     // deepseek_v3, glm4_moe, minimax: one score bias per expert
};

struct LayerKind {
  NormKind norm = NormKind::layer_norm;
  NormPlacement placement = NormPlacement::pre;
  bool norm_bias = false;  // layer norms with a bias vector
  Attention attention;
  FeedForward feed_forward;

  friend bool operator==(const LayerKind&, const LayerKind&);  // layers are interned by it
};

// Something a checkpoint or repository holds beside the language model: counted, never added in.
struct Extra {
  std::string name;           // "vision tower", "multi-token prediction", "fp8 block scales" ...
  std::int64_t elements = 0;  // 0 = the formula is not known; `why` says so
  std::string why;
};

struct ModelConfig {
  std::string name;        // built-in name, or the file's path
  std::string model_type;  // as published
  std::int64_t vocab = 0;
  std::int64_t hidden = 0;
  std::int64_t max_positions = 0;  // longest sequence the config states, 0 = not stated
  PositionKind position = PositionKind::rotary;
  std::int64_t position_rows = 0;    // rows of the learned table (opt: max_positions + 2)
  std::int64_t embedding_width = 0;  // opt-350m: narrower than hidden with projections; else hidden
  double rotary_fraction = 1.0;      // share of head_dim that is rotated
  bool tied = false;                 // head shares the embedding's storage
  bool head_bias = false;
  bool embedding_norm = false;  // bloom: a norm right after the embedding
  bool final_norm = true;
  NormKind norm = NormKind::layer_norm;  // kind of embedding_norm and final_norm
  bool norm_bias = false;
  double logit_softcap = 0;
  double dropout = 0;            // of the two residual branches, as the config asks for
  double attention_dropout = 0;  // of the attention probabilities
  double embedding_dropout = 0;  // of the embedding's output

  std::vector<LayerKind> kinds;      // distinct layer shapes
  std::vector<std::int32_t> layers;  // layers[i] = index into kinds

  std::vector<Extra> extras;       // beside the language model
  std::vector<std::string> notes;  // assumptions taken while reading, as sentences

  [[nodiscard]] std::int64_t layer_count() const {
    return static_cast<std::int64_t>(layers.size());
  }
};

}  // namespace fourhold::model
