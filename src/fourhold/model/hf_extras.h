// What published checkpoints hold beside the language model: named, counted where the formula is
// known, and never part of the count. They explain why a published total differs.
#pragma once

#include <cstdint>

#include "fourhold/model/hf_reading.h"
#include "fourhold/model/model_config.h"

namespace fourhold::model {

// GPT-2 files keep one positions x positions causal mask per layer.
void add_mask_buffers(ModelConfig& config);
// Old Llama files keep head_dim / 2 rotary frequencies per layer.
void add_rotary_buffers(ModelConfig& config);
// Falcon files store the tied head a second time.
void add_duplicated_head(ModelConfig& config);

// Per depth of multi-token prediction (DeepSeek-V3, arXiv 2412.19437, section 2.2): one sparse
// layer, a [hidden, 2 hidden] projection and three norms; files also store its embedding and head
// again.
void add_prediction_layers(ModelConfig& config, const LayerKind& sparse, std::int64_t depth);

// Block scales of fp8 weights, and a note on the dtype of any quantised file.
void add_quantization(Reading& reading);

// Vision and audio towers of multimodal models.
void add_towers(Reading& reading);

}  // namespace fourhold::model
