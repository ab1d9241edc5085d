// Layers that many families share, built from the sizes that were read.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fourhold/model/hf_reading.h"
#include "fourhold/model/model_config.h"

namespace fourhold::model {

// `full_every` where all layers have the window.
inline constexpr std::int64_t kNoneFull = 0;

// The window of each layer: by `layer_types` where the file has it (none on full_attention layers),
// else every `full_every`-th layer is full and the others have `window`.
[[nodiscard]] std::vector<std::int64_t> layer_windows(Reading& reading, std::int64_t layers,
                                                      std::int64_t window, std::int64_t full_every);
// Adds one layer per window.
void add_windowed_layers(Reading& reading, LayerKind layer,
                         const std::vector<std::int64_t>& windows);

// A Llama layer: RMS norms before both branches, no biases, gated feed-forward with the stated
// activation (silu if absent). Sets the final norm alike.
[[nodiscard]] LayerKind gated_rms_layer(Reading& reading, const Sizes& sizes);
// A GPT layer: layer norms with biases, biases everywhere, two feed-forward matrices.
[[nodiscard]] LayerKind biased_layer_norm_layer(Reading& reading, const Sizes& sizes);

// attention_bias: in most classes a bias on all four projections. Absent is false.
void read_attention_bias(Reading& reading, LayerKind& layer);

// The class defaults of a mixture: routed experts, how many a token passes, the width of one.
struct ExpertDefaults {
  std::int64_t experts = 0;
  std::int64_t active = 0;
  std::int64_t width = 0;
  std::string_view experts_name = "num_local_experts";  // what the class calls the first
};
// Makes `feed_forward` a mixture; a note tells where a default stands in. Error when more experts
// are active than there are.
void read_experts(Reading& reading, ExpertDefaults defaults, FeedForward& feed_forward);

// Adds one layer, sharing the kind of an equal one. Error beyond a thousand kinds.
void add_layer(Reading& reading, const LayerKind& kind);
void add_layers(Reading& reading, const LayerKind& kind, std::int64_t count);

}  // namespace fourhold::model
