#include "fourhold/model/hf_layers.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "fourhold/base/error.h"

namespace fourhold::model {
namespace {

// Published models have some dozens at most; the bound keeps the search for an equal one short.
constexpr std::size_t kMaxKinds = 1000;

}  // namespace

std::vector<std::int64_t> layer_windows(Reading& reading, std::int64_t layers, std::int64_t window,
                                        std::int64_t full_every) {
  std::vector<std::int64_t> windows;
  const auto types = reading.fields.strings("layer_types");
  if (!types.has_value()) {
    for (std::int64_t i = 1; i <= layers; ++i) {
      windows.push_back(full_every != 0 && i % full_every == 0 ? 0 : window);
    }
    return windows;
  }
  const std::string path = reading.fields.path("layer_types");
  if (static_cast<std::int64_t>(types->size()) != layers) {
    throw Error(path, fmt::format("has {} entries for {} layers", types->size(), layers),
                "give one entry per layer, or leave the list out");
  }
  for (const std::string& type : *types) {
    if (type == "full_attention" || type == "attention") {
      windows.push_back(0);
    } else if (type == "sliding_attention" || type == "chunked_attention") {
      windows.push_back(window);
    } else {
      throw Error(fmt::format("{}[{}]", path, windows.size()),
                  fmt::format("'{:.40}' layers are not supported", type),
                  "only transformer layers can be counted: full_attention, sliding_attention, "
                  "chunked_attention");
    }
  }
  return windows;
}

void add_windowed_layers(Reading& reading, LayerKind layer,
                         const std::vector<std::int64_t>& windows) {
  for (const std::int64_t window : windows) {
    layer.attention.window = window;
    add_layer(reading, layer);
  }
}

void read_attention_bias(Reading& reading, LayerKind& layer) {
  const bool bias = flag_or(reading, "attention_bias", false);
  layer.attention.qkv_bias = bias;
  layer.attention.output_bias = bias;
}

LayerKind gated_rms_layer(Reading& reading, const Sizes& sizes) {
  reading.config.norm = NormKind::rms_norm;
  LayerKind layer;
  layer.norm = NormKind::rms_norm;
  layer.attention.heads = sizes.heads;
  layer.attention.kv_heads = sizes.kv_heads;
  layer.attention.head_dim = sizes.head_dim;
  layer.attention.value_head_dim = sizes.head_dim;
  layer.feed_forward.activation = read_activation(reading, ActivationKind::silu);
  layer.feed_forward.gated = true;
  layer.feed_forward.width = sizes.ffn;
  return layer;
}

LayerKind biased_layer_norm_layer(Reading& reading, const Sizes& sizes) {
  reading.config.norm = NormKind::layer_norm;
  reading.config.norm_bias = true;
  LayerKind layer;
  layer.norm_bias = true;
  layer.attention.heads = sizes.heads;
  layer.attention.kv_heads = sizes.kv_heads;
  layer.attention.head_dim = sizes.head_dim;
  layer.attention.value_head_dim = sizes.head_dim;
  layer.attention.qkv_bias = true;
  layer.attention.output_bias = true;
  layer.feed_forward.activation = read_activation(reading, ActivationKind::gelu);
  layer.feed_forward.bias = true;
  layer.feed_forward.width = sizes.ffn;
  return layer;
}

void read_experts(Reading& reading, ExpertDefaults defaults, FeedForward& feed_forward) {
  feed_forward.kind = FeedForwardKind::experts;
  feed_forward.experts =
      noted_size(reading, {"num_local_experts", "num_experts", "n_routed_experts"},
                 defaults.experts, defaults.experts_name);
  feed_forward.active_experts =
      noted_size(reading, {"num_experts_per_tok", "experts_per_token"}, defaults.active);
  feed_forward.expert_width = defaults.width;
  if (feed_forward.active_experts > feed_forward.experts) {
    throw Error(
        reading.fields.path("num_experts_per_tok"),
        fmt::format("{} active experts of {}", feed_forward.active_experts, feed_forward.experts),
        fmt::format("the nearest valid value is {}", feed_forward.experts));
  }
}

void add_layer(Reading& reading, const LayerKind& kind) {
  ModelConfig& config = reading.config;
  const bool same = !config.layers.empty() &&
                    config.kinds[static_cast<std::size_t>(config.layers.back())] == kind;
  if (same) {
    config.layers.push_back(config.layers.back());
    return;
  }
  const auto found = std::find(config.kinds.begin(), config.kinds.end(), kind);
  config.layers.push_back(static_cast<std::int32_t>(found - config.kinds.begin()));
  if (found != config.kinds.end()) return;
  if (config.kinds.size() == kMaxKinds) {
    throw Error(reading.fields.path("num_hidden_layers"),
                fmt::format("the layers have more than {} different shapes", kMaxKinds),
                "let more layers share their sizes");
  }
  config.kinds.push_back(kind);
}

void add_layers(Reading& reading, const LayerKind& kind, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) add_layer(reading, kind);
}

}  // namespace fourhold::model
