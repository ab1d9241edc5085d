// Families with layer norms, biases and a feed-forward of two matrices.
#include <fmt/format.h>

#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/model/hf_extras.h"
#include "fourhold/model/hf_families.h"

namespace fourhold::model {
namespace {

constexpr SizesAsked kHeadsOnly{.kv_heads = false};

void learned_positions(Reading& reading, std::int64_t extra_rows) {
  ModelConfig& config = reading.config;
  if (config.max_positions == 0) {
    throw Error(reading.fields.path("max_position_embeddings"), "is missing",
                "a learned position table needs its length");
  }
  config.position = PositionKind::learned;
  config.position_rows = config.max_positions + extra_rows;
}

// The classes of GPT-2 and GPT-BigCode drop out at 0.1 unless told otherwise.
void gpt2_dropouts(Reading& reading) {
  constexpr NumberRange kProbability{0, 1};
  ModelConfig& config = reading.config;
  config.dropout = number_or(reading, {"resid_pdrop"}, 0.1, kProbability);
  config.attention_dropout = number_or(reading, {"attn_pdrop"}, 0.1, kProbability);
  config.embedding_dropout = number_or(reading, {"embd_pdrop"}, 0.1, kProbability);
}

}  // namespace

void read_gpt2(Reading& reading) {
  const Sizes sizes = read_sizes(reading, kHeadsOnly);
  learned_positions(reading, 0);
  gpt2_dropouts(reading);
  add_layers(reading, biased_layer_norm_layer(reading, sizes), sizes.layers);
  add_mask_buffers(reading.config);
}

void read_gpt_bigcode(Reading& reading) {
  Sizes sizes = read_sizes(reading, kHeadsOnly);
  if (flag_or(reading, "multi_query", true)) sizes.kv_heads = 1;
  learned_positions(reading, 0);
  gpt2_dropouts(reading);
  add_layers(reading, biased_layer_norm_layer(reading, sizes), sizes.layers);
}

void read_gpt_neox(Reading& reading) {
  const Sizes sizes = read_sizes(reading, {.kv_heads = false, .rotary_fraction = 0.25});
  LayerKind layer = biased_layer_norm_layer(reading, sizes);
  const bool attention_bias = flag_or(reading, "attention_bias", true);
  layer.attention.qkv_bias = attention_bias;
  layer.attention.output_bias = attention_bias;
  if (flag_or(reading, "use_parallel_residual", true)) {
    layer.placement = NormPlacement::parallel_two_norms;
  }
  add_layers(reading, layer, sizes.layers);
}

// Layers alternate between full attention and a window of 256; only the output projection has a
// bias.
void read_gpt_neo(Reading& reading) {
  const Sizes sizes = read_sizes(reading, kHeadsOnly);
  learned_positions(reading, 0);
  LayerKind layer = biased_layer_norm_layer(reading, sizes);
  layer.attention.qkv_bias = false;
  const std::int64_t window = size_or(reading, {"window_size"}, 256);
  const auto listed = reading.fields.strings("attention_layers");
  if (listed.has_value() && static_cast<std::int64_t>(listed->size()) != sizes.layers) {
    throw Error(reading.fields.path("attention_layers"),
                fmt::format("has {} entries for {} layers", listed->size(), sizes.layers),
                "give one entry per layer, or leave the list out");
  }
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    const bool local =
        listed.has_value() ? (*listed)[static_cast<std::size_t>(i)] == "local" : i % 2 == 1;
    layer.attention.window = local ? window : 0;
    add_layer(reading, layer);
  }
}

// The table has two rows more than positions: the class offsets them. opt-350m embeds into a
// narrower width and normalises after each addition.
void read_opt(Reading& reading) {
  const Sizes sizes = read_sizes(reading, kHeadsOnly);
  ModelConfig& config = reading.config;
  learned_positions(reading, 2);
  config.embedding_width = size_or(reading, {"word_embed_proj_dim"}, sizes.hidden);
  constexpr NumberRange kProbability{0, 1};
  config.dropout = number_or(reading, {"dropout"}, 0.1, kProbability);

  LayerKind layer = biased_layer_norm_layer(reading, sizes);
  if (reading.fields.value("activation_function") == nullptr) {
    layer.feed_forward.activation = ActivationKind::relu;
  }
  const bool bias = flag_or(reading, "enable_bias", true);
  layer.attention.qkv_bias = bias;
  layer.attention.output_bias = bias;
  layer.feed_forward.bias = bias;
  if (!flag_or(reading, "layer_norm_elementwise_affine", true)) {
    throw Error(reading.fields.path("layer_norm_elementwise_affine"),
                "is false: layer norms without weights are not supported",
                "the nearest valid value is true");
  }
  const bool norm_before = flag_or(reading, "do_layer_norm_before", true);
  if (!norm_before) layer.placement = NormPlacement::post_add;
  config.final_norm = norm_before && !flag_or(reading, "_remove_final_layer_norm", false);
  add_layers(reading, layer, sizes.layers);
}

void read_bloom(Reading& reading) {
  const Sizes sizes = read_sizes(reading, kHeadsOnly);
  reading.config.position = PositionKind::alibi;
  reading.config.embedding_norm = true;
  add_layers(reading, biased_layer_norm_layer(reading, sizes), sizes.layers);
}

// KV heads and norms depend on which of three generations the file describes (falcon-rw, falcon-7b,
// falcon-40b). The norms keep their biases when the linears have none.
void read_falcon(Reading& reading) {
  Sizes sizes = read_sizes(reading, kHeadsOnly);
  const bool new_decoder = flag_or(reading, "new_decoder_architecture", false);
  const bool parallel = flag_or(reading, "parallel_attn", true);
  const bool multi_query = flag_or(reading, "multi_query", true);
  const std::int64_t kv_heads =
      size_or(reading, {"num_kv_heads", "n_head_kv", "num_key_value_heads"}, sizes.heads);
  if (new_decoder) {
    check_kv_heads(reading.fields.path("num_kv_heads"), kv_heads, sizes.heads);
    sizes.kv_heads = kv_heads;
  } else if (multi_query) {
    sizes.kv_heads = 1;
  }

  LayerKind layer = biased_layer_norm_layer(reading, sizes);
  const bool bias = flag_or(reading, "bias", false);
  layer.attention.qkv_bias = bias;
  layer.attention.output_bias = bias;
  layer.feed_forward.bias = bias;
  const std::int64_t parallel_norms =
      reading.fields.integer("num_ln_in_parallel_attn", {1, 2}).value_or(new_decoder ? 2 : 1);
  if (parallel) {
    layer.placement =
        parallel_norms == 2 ? NormPlacement::parallel_two_norms : NormPlacement::parallel_one_norm;
  }
  if (flag_or(reading, "alibi", false)) reading.config.position = PositionKind::alibi;
  add_layers(reading, layer, sizes.layers);
  if (reading.config.tied) add_duplicated_head(reading.config);
}

void read_starcoder2(Reading& reading) {
  const Sizes sizes = read_sizes(reading);
  LayerKind layer = biased_layer_norm_layer(reading, sizes);
  const bool bias = flag_or(reading, "use_bias", true);
  layer.attention.qkv_bias = bias;
  layer.attention.output_bias = bias;
  layer.feed_forward.bias = bias;
  layer.attention.window = read_window(reading);
  add_layers(reading, layer, sizes.layers);
}

}  // namespace fourhold::model
