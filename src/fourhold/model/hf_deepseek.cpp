// DeepSeek and its relatives: latent attention, dense first layers, shared experts, and layers for
// multi-token prediction that stand apart from the language model.
#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/model/hf_extras.h"
#include "fourhold/model/hf_families.h"

namespace fourhold::model {
namespace {

struct DeepseekDefaults {
  std::int64_t experts = 0;
  std::int64_t shared = 0;
  std::int64_t active = 0;
  std::int64_t expert_width = 0;
  std::int64_t first_dense = 0;
  std::int64_t q_lora_rank = 0;
  bool correction_bias = true;  // one score offset per expert, kept as a buffer
};

constexpr DeepseekDefaults kDeepseekV2{64, 2, 6, 1407, 0, 1536, false};
constexpr DeepseekDefaults kDeepseekV3{256, 1, 8, 2048, 3, 1536, true};
constexpr DeepseekDefaults kGlm4Moe{128, 1, 8, 1408, 1, 0, true};
constexpr IntegerRange kPredictionRange{0, 64};

void read_latent_attention(Reading& reading, const DeepseekDefaults& defaults,
                           Attention& attention) {
  attention.kind = AttentionKind::latent;
  // Null is a meaning of its own here: a plain q projection.
  attention.q_lora_rank = reading.fields.is_null("q_lora_rank")
                              ? 0
                              : noted_size(reading, {"q_lora_rank"}, defaults.q_lora_rank);
  attention.kv_lora_rank = noted_size(reading, {"kv_lora_rank"}, 512);
  attention.rope_head_dim = noted_size(reading, {"qk_rope_head_dim"}, 64);
  attention.head_dim =
      checked_add(noted_size(reading, {"qk_nope_head_dim"}, 128), attention.rope_head_dim);
  attention.value_head_dim = noted_size(reading, {"v_head_dim"}, 128);
  if (flag_or(reading, "attention_bias", false)) {
    throw Error(reading.fields.path("attention_bias"),
                "biases in latent attention are not supported", "the nearest valid value is false");
  }
}

// The first layers are dense; of the others, every moe_layer_freq-th has experts. A layer of
// multi-token prediction is a sparse one, and stands apart.
void add_deepseek_layers(Reading& reading, const DeepseekDefaults& defaults, const LayerKind& dense,
                         std::int64_t layers) {
  LayerKind sparse = dense;
  FeedForward& feed_forward = sparse.feed_forward;
  feed_forward.width = 0;
  read_experts(
      reading,
      {defaults.experts, defaults.active,
       noted_size(reading, {"moe_intermediate_size"}, defaults.expert_width), "n_routed_experts"},
      feed_forward);
  const bool no_shared = reading.fields.is_null("n_shared_experts");
  const std::int64_t shared =
      no_shared ? 0 : noted_count(reading, "n_shared_experts", defaults.shared);
  feed_forward.correction_bias = defaults.correction_bias;
  feed_forward.shared_width = checked_multiply(shared, feed_forward.expert_width);

  const std::int64_t first = noted_count(reading, "first_k_dense_replace", defaults.first_dense);
  const std::int64_t every = size_or(reading, {"moe_layer_freq"}, 1);
  for (std::int64_t i = 0; i < layers; ++i) {
    add_layer(reading, i >= first && i % every == 0 ? sparse : dense);
  }
  reading.prediction_layers =
      reading.fields.integer("num_nextn_predict_layers", kPredictionRange).value_or(0);
  add_prediction_layers(reading.config, sparse, reading.prediction_layers);
}

void read_deepseek(Reading& reading, const DeepseekDefaults& defaults) {
  const Sizes sizes = read_sizes(reading, {.kv_heads = false, .head_dim = false});
  LayerKind dense = gated_rms_layer(reading, sizes);
  // Every head has its own k and v: a stated num_key_value_heads repeats the heads.
  static_cast<void>(reading.fields.integer("num_key_value_heads", kSizeRange));
  read_latent_attention(reading, defaults, dense.attention);
  add_deepseek_layers(reading, defaults, dense, sizes.layers);
}

}  // namespace

void read_deepseek_v2(Reading& reading) {
  DeepseekDefaults defaults = kDeepseekV2;
  defaults.correction_bias = reading.fields.string("topk_method") == "noaux_tc";
  read_deepseek(reading, defaults);
}

void read_deepseek_v3(Reading& reading) { read_deepseek(reading, kDeepseekV3); }

void read_glm4_moe(Reading& reading) {
  const Sizes sizes = read_sizes(reading, {.rotary_fraction = 0.5});
  LayerKind dense = gated_rms_layer(reading, sizes);
  dense.attention.qkv_bias = flag_or(reading, "attention_bias", false);
  if (flag_or(reading, "use_qk_norm", false)) dense.attention.qk_norm = QkNorm::per_head;
  add_deepseek_layers(reading, kGlm4Moe, dense, sizes.layers);
}

}  // namespace fourhold::model
