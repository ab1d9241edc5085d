// Tiny models of the families the planner knows: small enough to differentiate by differences, with
// every size such that it can be split in two and in four.
#pragma once

#include <string>
#include <vector>

#include "fourhold/model/model_config.h"

namespace fourhold::interpreter {

[[nodiscard]] model::ModelConfig tiny_gpt2(std::int64_t layers);
[[nodiscard]] model::ModelConfig tiny_llama(std::int64_t layers);
[[nodiscard]] model::ModelConfig tiny_mixtral(std::int64_t layers);
[[nodiscard]] model::ModelConfig tiny_qwen2_moe(std::int64_t layers);
[[nodiscard]] model::ModelConfig tiny_gpt_oss(std::int64_t layers);
[[nodiscard]] model::ModelConfig tiny_deepseek(std::int64_t layers, std::int64_t q_lora_rank);
[[nodiscard]] model::ModelConfig tiny_gemma2(std::int64_t layers);
[[nodiscard]] model::ModelConfig tiny_olmo2(std::int64_t layers);
[[nodiscard]] model::ModelConfig tiny_qwen3(std::int64_t layers);
[[nodiscard]] model::ModelConfig tiny_falcon(std::int64_t layers);
[[nodiscard]] model::ModelConfig tiny_neox(std::int64_t layers);
[[nodiscard]] model::ModelConfig tiny_opt(std::int64_t layers);
[[nodiscard]] model::ModelConfig tiny_bloom(std::int64_t layers);
// Layers of unlike kinds: absent or replaced branches, unlike numbers of kv heads.
[[nodiscard]] model::ModelConfig tiny_nemotron();
[[nodiscard]] model::ModelConfig with_dropout(model::ModelConfig config);

struct NamedModel {
  std::string name;
  model::ModelConfig config;
};
[[nodiscard]] std::vector<NamedModel> all_models(std::int64_t layers);

}  // namespace fourhold::interpreter
