#include "fourhold/measured/framework_rule.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "fourhold/measured/refine_llmq.h"
#include "fourhold/measured/refine_megatron.h"
#include "fourhold/measured/refine_pytorch.h"
#include "fourhold/measured/refine_torchtitan.h"
#include "fourhold/measured/row_words.h"

namespace fourhold::measured {
namespace {

using enum ModelStyle;
constexpr auto kFullest = MeasuredStage::fullest;
constexpr auto kOff = SequenceParallel::off;
constexpr std::int64_t kOneSequence = 1;  // fewer tokens than a sequence has are one sequence
constexpr auto kWithTensor = SequenceParallel::with_tensor;

// The first that matches counts. Blank recomputation: what the source's recipes do by default.
constexpr std::array kRules{
    FrameworkRule{"aleph alpha", "megatron-2021", llama, kFullest, kOff, "", 0, refine_aleph_alpha},
    FrameworkRule{"megatron-core (ci", "megatron", megatron, MeasuredStage::last, kOff, "none", 0,
                  refine_megatron_core},
    FrameworkRule{"megatron-lm (commit", "megatron", llama, kFullest, kWithTensor, "none", 0,
                  refine_simumax},
    FrameworkRule{"megatron-bridge", "megatron", llama, kFullest, kWithTensor, "none", kOneSequence,
                  refine_nvidia},
    FrameworkRule{"nemo", "megatron", llama, kFullest, kWithTensor, "none", kOneSequence,
                  refine_nvidia},
    FrameworkRule{"primus", "megatron", llama, kFullest, kWithTensor, "none", 0, nullptr},
    FrameworkRule{"megascale", "megatron", gpt2, kFullest, kWithTensor, "none", kOneSequence,
                  nullptr},
    FrameworkRule{"megatron-deepspeed", "megatron-deepspeed", gpt2, kFullest, kOff, "", 4096,
                  refine_megatron_deepspeed, plan::Precision::fp16},
    FrameworkRule{"megatron", "megatron-2021", gpt2, kFullest, kOff, "", 4096,
                  refine_megatron_2021},
    FrameworkRule{"oneflow", "megatron-2021", gpt2, kFullest, kOff, "none", 0,
                  refine_megatron_2021},
    FrameworkRule{"flashattention", "standard", gpt2, kFullest, kOff, "none", 16384,
                  refine_flash_paper},
    FrameworkRule{"nanotron", "nanotron", llama, MeasuredStage::first, kWithTensor, "none", 0,
                  refine_nanotron},
    FrameworkRule{"llm-foundry", "llm-foundry", mpt, kFullest, kOff, "none", 0, refine_llm_foundry},
    FrameworkRule{"torchtitan", "fsdp2", llama, kFullest, kWithTensor, "none", 0,
                  refine_torchtitan},
    FrameworkRule{"fms-fsdp", "fsdp2", llama, kFullest, kOff, "none", 0, nullptr},
    FrameworkRule{"internevo", "standard", llama, kFullest, kOff, "none", 0, refine_internevo},
    FrameworkRule{"llmq", "llmq", llama, kFullest, kOff, "none", 0, refine_llmq,
                  plan::Precision::bf16, is_llmq_flag},
    FrameworkRule{"litgpt", "litgpt", llama, kFullest, kOff, "none", 0, refine_litgpt},
    FrameworkRule{"transformers + deepspeed", "qwen-finetune", llama, kFullest, kOff, "full", 0,
                  refine_qwen},
    FrameworkRule{"deepspeed", "deepspeed", gpt2, kFullest, kOff, "full", 0, refine_deepspeed},
    FrameworkRule{"transformers + peft", "peft", llama, kFullest, kOff, "none", 0,
                  refine_fine_tuning},
    FrameworkRule{"transformers", "accelerate", llama, kFullest, kOff, "none", 0,
                  refine_fine_tuning},
    FrameworkRule{"peft", "peft", llama, kFullest, kOff, "none", 0, refine_fine_tuning},
    FrameworkRule{"ms-swift", "peft", llama, kFullest, kOff, "full", 0, refine_swift},
    FrameworkRule{"torchtune", "torchtune", llama, kFullest, kOff, "full", 0, refine_torchtune},
    FrameworkRule{"meta", "fsdp2", llama, kFullest, kWithTensor, "none", kOneSequence, nullptr},
    FrameworkRule{"maxtext", "maxtext", llama, kFullest, kOff, "full", 0, refine_maxtext},
    FrameworkRule{"jax", "standard", llama, kFullest, kOff, "none", 0, refine_graph},
    FrameworkRule{"levanter", "standard", gpt2, kFullest, kOff, "full", 0, refine_graph},
    FrameworkRule{"pathways", "standard", gpt2, kFullest, kOff, "full", 0, refine_graph}};

}  // namespace

const FrameworkRule* rule_of(const MeasuredRow& row) {
  const std::string framework = lowered(row.framework);
  const auto* found = std::find_if(
      kRules.begin(), kRules.end(),
      [&framework](const FrameworkRule& rule) { return starts_with(framework, rule.framework); });
  return found == kRules.end() ? nullptr : found;
}

std::vector<std::string_view> known_frameworks() {
  std::vector<std::string_view> names;
  names.reserve(kRules.size());
  for (const FrameworkRule& rule : kRules) names.push_back(rule.framework);
  return names;
}

}  // namespace fourhold::measured
