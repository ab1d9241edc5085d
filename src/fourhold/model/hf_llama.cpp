// Families with RMS norms and a gated feed-forward: Llama and what descends from it.
#include <algorithm>

#include "fourhold/model/hf_extras.h"
#include "fourhold/model/hf_families.h"

namespace fourhold::model {
namespace {

// A window only where the file says that it is used, and only from max_window_layers on.
void add_qwen_layers(Reading& reading, const LayerKind& layer, std::int64_t layers) {
  std::vector<std::int64_t> windows(static_cast<std::size_t>(layers), 0);
  if (flag_or(reading, "use_sliding_window", false)) {
    const std::int64_t first =
        reading.fields.integer("max_window_layers", kCountRange).value_or(28);
    const bool listed = reading.fields.value("layer_types") != nullptr;
    windows = layer_windows(reading, layers, read_window(reading), kNoneFull);
    for (std::int64_t i = 0; !listed && i < std::min(first, layers); ++i) {
      windows[static_cast<std::size_t>(i)] = 0;
    }
  }
  add_windowed_layers(reading, layer, windows);
}

// The tanh cap of scores or logits: absent = class default, null = none.
double read_softcap(Reading& reading, std::string_view name, double default_value) {
  if (reading.fields.is_null(name)) return 0;
  return number_or(reading, {name}, default_value, {0, 1e9});
}

// Gemma 2 and 3 normalise before and after each branch.
LayerKind sandwich_layer(Reading& reading, const Sizes& sizes) {
  LayerKind layer = gated_rms_layer(reading, sizes);
  layer.placement = NormPlacement::sandwich;
  layer.feed_forward.activation = read_activation(reading, ActivationKind::gelu);
  read_attention_bias(reading, layer);
  return layer;
}

}  // namespace

void read_llama(Reading& reading) {
  const Sizes sizes = read_sizes(reading);
  LayerKind layer = gated_rms_layer(reading, sizes);
  read_attention_bias(reading, layer);
  layer.feed_forward.bias = flag_or(reading, "mlp_bias", false);
  add_layers(reading, layer, sizes.layers);
  // Llama 1 and 2 (32,000 tokens): files from before rope_theta was written also kept the buffer.
  const bool old = reading.config.vocab == 32000 && reading.fields.value("rope_theta") == nullptr &&
                   reading.fields.value("rope_parameters") == nullptr;
  if (old) add_rotary_buffers(reading.config);
}

void read_mistral(Reading& reading) {
  const Sizes sizes = read_sizes(reading);
  const LayerKind layer = gated_rms_layer(reading, sizes);
  add_windowed_layers(reading, layer,
                      layer_windows(reading, sizes.layers, read_window(reading), kNoneFull));
}

void read_qwen2(Reading& reading) {
  const Sizes sizes = read_sizes(reading);
  LayerKind layer = gated_rms_layer(reading, sizes);
  layer.attention.qkv_bias = true;
  add_qwen_layers(reading, layer, sizes.layers);
}

void read_qwen3(Reading& reading) {
  const Sizes sizes = read_sizes(reading);
  LayerKind layer = gated_rms_layer(reading, sizes);
  read_attention_bias(reading, layer);
  layer.attention.qk_norm = QkNorm::per_head;
  add_qwen_layers(reading, layer, sizes.layers);
}

void read_phi3(Reading& reading) {
  const Sizes sizes = read_sizes(reading);
  LayerKind layer = gated_rms_layer(reading, sizes);
  layer.attention.window = read_window(reading);
  add_layers(reading, layer, sizes.layers);
}

void read_olmo2(Reading& reading) {
  const Sizes sizes = read_sizes(reading);
  LayerKind layer = gated_rms_layer(reading, sizes);
  layer.placement = NormPlacement::post_branch;
  read_attention_bias(reading, layer);
  layer.attention.qk_norm = QkNorm::full_width;
  add_layers(reading, layer, sizes.layers);
}

void read_olmo3(Reading& reading) {
  const Sizes sizes = read_sizes(reading);
  LayerKind layer = gated_rms_layer(reading, sizes);
  layer.placement = NormPlacement::post_branch;
  read_attention_bias(reading, layer);
  layer.attention.qk_norm = QkNorm::full_width;
  add_windowed_layers(reading, layer,
                      layer_windows(reading, sizes.layers, read_window(reading), 4));
}

// GLM-4 normalises around both branches, its forerunner only before; q, k and v may have biases.
void read_glm(Reading& reading) {
  const Sizes sizes = read_sizes(reading, {.rotary_fraction = 0.5});
  LayerKind layer = gated_rms_layer(reading, sizes);
  layer.attention.qkv_bias = flag_or(reading, "attention_bias", false);
  add_layers(reading, layer, sizes.layers);
}

void read_glm4(Reading& reading) {
  read_glm(reading);
  for (LayerKind& kind : reading.config.kinds) kind.placement = NormPlacement::sandwich;
}

void read_gemma(Reading& reading) {
  const Sizes sizes = read_sizes(reading);
  LayerKind layer = gated_rms_layer(reading, sizes);
  layer.feed_forward.activation = read_activation(reading, ActivationKind::gelu);
  read_attention_bias(reading, layer);
  add_layers(reading, layer, sizes.layers);
}

void read_gemma2(Reading& reading) {
  const Sizes sizes = read_sizes(reading);
  LayerKind layer = sandwich_layer(reading, sizes);
  layer.attention.score_softcap = read_softcap(reading, "attn_logit_softcapping", 50);
  reading.config.logit_softcap = read_softcap(reading, "final_logit_softcapping", 30);
  add_windowed_layers(reading, layer,
                      layer_windows(reading, sizes.layers, read_window(reading), 2));
}

void read_gemma3(Reading& reading) {
  const Sizes sizes = read_sizes(reading);
  LayerKind layer = sandwich_layer(reading, sizes);
  layer.attention.qk_norm = QkNorm::per_head;
  layer.attention.score_softcap = read_softcap(reading, "attn_logit_softcapping", 0);
  reading.config.logit_softcap = read_softcap(reading, "final_logit_softcapping", 0);
  const std::int64_t full_every =
      size_or(reading, {"sliding_window_pattern", "_sliding_window_pattern"}, 6);
  add_windowed_layers(reading, layer,
                      layer_windows(reading, sizes.layers, read_window(reading), full_every));
}

}  // namespace fourhold::model
