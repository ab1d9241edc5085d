// Families that run attention and feed-forward side by side behind one layer norm, and StableLM,
// which may.
#include <algorithm>

#include "fourhold/base/error.h"
#include "fourhold/model/hf_families.h"

namespace fourhold::model {
namespace {

// A layer norm with or without bias before a gated feed-forward, no other biases.
LayerKind gated_layer_norm_layer(Reading& reading, const Sizes& sizes) {
  LayerKind layer = gated_rms_layer(reading, sizes);
  reading.config.norm = NormKind::layer_norm;
  layer.norm = NormKind::layer_norm;
  return layer;
}

LayerKind cohere_layer(Reading& reading, const Sizes& sizes) {
  LayerKind layer = gated_layer_norm_layer(reading, sizes);
  layer.placement = NormPlacement::parallel_one_norm;
  read_attention_bias(reading, layer);
  return layer;
}

}  // namespace

void read_gptj(Reading& reading) {
  const Sizes sizes = read_sizes(reading, {.kv_heads = false});
  LayerKind layer = biased_layer_norm_layer(reading, sizes);
  layer.placement = NormPlacement::parallel_one_norm;
  layer.attention.qkv_bias = false;
  layer.attention.output_bias = false;
  if (!reading.fields.is_null("rotary_dim")) {
    const std::int64_t rotated = reading.fields.integer("rotary_dim", {1, sizes.head_dim})
                                     .value_or(std::min<std::int64_t>(64, sizes.head_dim));
    reading.config.rotary_fraction =
        static_cast<double>(rotated) / static_cast<double>(sizes.head_dim);
  }
  reading.config.head_bias = true;
  add_layers(reading, layer, sizes.layers);
}

void read_phi(Reading& reading) {
  const Sizes sizes = read_sizes(reading, {.rotary_fraction = 0.5});
  LayerKind layer = biased_layer_norm_layer(reading, sizes);
  layer.placement = NormPlacement::parallel_one_norm;
  if (flag_or(reading, "qk_layernorm", false)) {
    throw Error(reading.fields.path("qk_layernorm"), "is true, which is not supported",
                "the nearest valid value is false");
  }
  reading.config.head_bias = true;
  add_layers(reading, layer, sizes.layers);
}

void read_cohere(Reading& reading) {
  const Sizes sizes = read_sizes(reading);
  LayerKind layer = cohere_layer(reading, sizes);
  // Each head has norm weights of its own.
  if (flag_or(reading, "use_qk_norm", false)) layer.attention.qk_norm = QkNorm::full_width;
  add_layers(reading, layer, sizes.layers);
}

void read_cohere2(Reading& reading) {
  const Sizes sizes = read_sizes(reading);
  const std::int64_t full_every =
      size_or(reading, {"sliding_window_pattern", "_sliding_window_pattern"}, 4);
  add_windowed_layers(reading, cohere_layer(reading, sizes),
                      layer_windows(reading, sizes.layers, read_window(reading), full_every));
}

void read_stablelm(Reading& reading) {
  const Sizes sizes = read_sizes(reading, {.rotary_fraction = 0.25});
  LayerKind layer = gated_layer_norm_layer(reading, sizes);
  layer.norm_bias = true;
  reading.config.norm_bias = true;
  layer.attention.qkv_bias = flag_or(reading, "use_qkv_bias", false);
  if (flag_or(reading, "qk_layernorm", false)) {
    throw Error(reading.fields.path("qk_layernorm"), "is true, which is not supported",
                "the nearest valid value is false");
  }
  if (flag_or(reading, "use_parallel_residual", false)) {
    layer.placement = NormPlacement::parallel_one_norm;
  }
  add_layers(reading, layer, sizes.layers);
}

}  // namespace fourhold::model
