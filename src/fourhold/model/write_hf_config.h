// Writes a ModelConfig as the config.json that transformers loads: the other side of hf_config.h.
#pragma once

#include <string>

#include "fourhold/base/dtype.h"
#include "fourhold/base/json.h"
#include "fourhold/model/model_config.h"

namespace fourhold::model {

// The text of config.json for weights stored as `dtype` (fp32, fp16 or bf16). `carried` holds the
// members of the config.json the model came from: those that a ModelConfig does not describe
// (rope_theta, rms_norm_eps, token ids ...) are written as they stand; empty for none, which means
// the defaults of the model's class.
//
// Reading the text gives the same model again. Error for a model type other than gpt2, llama,
// mistral, qwen2 and qwen3, and for a model that no config.json of its type describes.
[[nodiscard]] std::string write_hf_config(const ModelConfig& config, DType dtype,
                                          const json::Object& carried);

}  // namespace fourhold::model
