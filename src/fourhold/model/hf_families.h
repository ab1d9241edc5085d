// The families of models that can be read: one function each, chosen by model_type.
//
// Each reader fills `config` with the layers and the fields around them; shapes and counts follow
// from parameters.h. The files are grouped by what the families share.
#pragma once

#include <string_view>
#include <vector>

#include "fourhold/model/hf_layers.h"
#include "fourhold/model/hf_reading.h"

namespace fourhold::model {

struct Family {
  std::string_view model_type;
  void (*read)(Reading& reading);
  ClassDefaults defaults;
};

// nullptr when the type is not known.
[[nodiscard]] const Family* find_family(std::string_view model_type);
[[nodiscard]] std::vector<std::string_view> family_names();

// Layer norms, biases, two-matrix feed-forward (hf_classic.cpp).
void read_gpt2(Reading& reading);
void read_gpt_bigcode(Reading& reading);
void read_gpt_neo(Reading& reading);
void read_gpt_neox(Reading& reading);
void read_opt(Reading& reading);
void read_bloom(Reading& reading);
void read_falcon(Reading& reading);
void read_starcoder2(Reading& reading);

// Attention and feed-forward side by side behind one layer norm (hf_parallel.cpp).
void read_gptj(Reading& reading);
void read_phi(Reading& reading);
void read_cohere(Reading& reading);
void read_cohere2(Reading& reading);
void read_stablelm(Reading& reading);

// RMS norms and gated feed-forward (hf_llama.cpp).
void read_llama(Reading& reading);
void read_mistral(Reading& reading);
void read_qwen2(Reading& reading);
void read_qwen3(Reading& reading);
void read_phi3(Reading& reading);
void read_olmo2(Reading& reading);
void read_olmo3(Reading& reading);
void read_glm(Reading& reading);
void read_glm4(Reading& reading);
void read_gemma(Reading& reading);
void read_gemma2(Reading& reading);
void read_gemma3(Reading& reading);

// Mixtures of experts over plain attention (hf_experts.cpp).
void read_mixtral(Reading& reading);
void read_qwen2_moe(Reading& reading);
void read_qwen3_moe(Reading& reading);
void read_granitemoe(Reading& reading);
void read_granite_hybrid(Reading& reading);
void read_olmoe(Reading& reading);
void read_gpt_oss(Reading& reading);
void read_minimax_m2(Reading& reading);
void read_llama4(Reading& reading);

// Dense first layers, shared experts, multi-token prediction (hf_deepseek.cpp).
void read_deepseek_v2(Reading& reading);
void read_deepseek_v3(Reading& reading);
void read_glm4_moe(Reading& reading);

// Layers that differ one by one (hf_per_layer.cpp).
void read_openelm(Reading& reading);
void read_nemotron_nas(Reading& reading);

// A type that is not in the table but states every field of a Llama and nothing beyond
// (hf_unknown.cpp). Error naming the model_type otherwise.
void read_unknown(Reading& reading);

// Error for types that are known and not transformers of this kind (hf_refused.cpp).
void refuse_unsupported(std::string_view model_type, FieldReader& fields);

}  // namespace fourhold::model
