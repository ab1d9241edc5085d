// Runs with adapters against numbers from outside: published counts of trainable parameters, what
// PyTorch keeps for frozen layers, published memory of LitGPT.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "fourhold/model/hf_config.h"
#include "fourhold/model/load_model.h"
#include "fourhold/model/trainable.h"
#include "fourhold/plan/lora_targets.h"
#include "fourhold/plan/plan_request.h"
#include "fourhold/predict/memory.h"

namespace fourhold {
namespace {

// microsoft/phi-1.5: parallel branches behind one norm, biases, half of each head rotated.
model::ModelConfig phi() {
  return model::read_hf_config(
      R"({"model_type":"phi","vocab_size":51200,"hidden_size":2048,"intermediate_size":8192,)"
      R"("num_hidden_layers":24,"num_attention_heads":32,"max_position_embeddings":2048})",
      "phi-1.5");
}

// stabilityai/stablelm-base-alpha-3b: GPT-NeoX, parallel branches with two norms.
model::ModelConfig stablelm() {
  return model::read_hf_config(
      R"({"model_type":"gpt_neox","vocab_size":50688,"hidden_size":4096,)"
      R"("intermediate_size":16384,"num_hidden_layers":16,"num_attention_heads":32,)"
      R"("max_position_embeddings":4096,"use_parallel_residual":true})",
      "stablelm-alpha-3b");
}

model::ModelConfig llama_3b() {  // meta-llama/Llama-3.2-3B
  return model::read_hf_config(
      R"({"model_type":"llama","vocab_size":128256,"hidden_size":3072,"intermediate_size":8192,)"
      R"("num_hidden_layers":28,"num_attention_heads":24,"num_key_value_heads":8,"head_dim":128,)"
      R"("tie_word_embeddings":true})",
      "llama-3.2-3b");
}

plan::Plan lora(const model::ModelConfig& config, const plan::Profile& profile,
                const std::string& targets, std::int64_t rank, std::int64_t seq) {
  plan::PlanRequest request;
  request.seq = seq;
  request.tuning = plan::Tuning::lora;
  request.lora_rank = rank;
  request.lora_targets = plan::lora_targets_from_string(targets);
  return plan::complete(request, config, profile);
}

std::int64_t trained(const model::ModelConfig& config, const std::string& targets,
                     std::int64_t rank) {
  const plan::Profile profile = plan::load_profile("standard");
  return model::count_trainable(
             config, plan::switches_of(lora(config, profile, targets, rank, 128), profile))
      .trainable;
}

TEST(AdapterCounts, AreThePublishedOnes) {
  // Lightning-AI/litgpt, tutorials/resource-tables.md: r = 8 on queries and values.
  EXPECT_EQ(trained(phi(), "attention-qv", 8), 1'572'864);
  EXPECT_EQ(trained(stablelm(), "attention-qv", 8), 2'097'152);
  // huggingface/peft, method_comparison/MetaMathQA: q_proj and v_proj.
  EXPECT_EQ(trained(llama_3b(), "q_proj,v_proj", 32), 9'175'040);
  EXPECT_EQ(trained(llama_3b(), "q_proj,v_proj", 64), 18'350'080);
}

TEST(AdapterCounts, AddModulesTrainedWholeAndTheirFrozenOriginals) {
  const model::ModelConfig config = stablelm();
  plan::Profile profile = plan::load_profile("standard");
  plan::Plan plan = lora(config, profile, "attention-qv", 8, 128);
  plan.modules_to_save = model::TrainedModules::embedding_head;
  const std::int64_t tables = 2 * std::int64_t{50688} * 4096;
  model::TrainableCounts counts = model::count_trainable(config, plan::switches_of(plan, profile));
  EXPECT_EQ(counts.trainable, 2'097'152 + tables);
  EXPECT_EQ(counts.adapters, 2'097'152);
  const std::int64_t total = counts.total;
  EXPECT_EQ(total, model::count_parameters(config).total + 2'097'152);
  profile.switches.trained_copies = model::TrainedCopies::beside;
  counts = model::count_trainable(config, plan::switches_of(plan, profile));
  EXPECT_EQ(counts.trainable, 2'097'152 + tables);
  EXPECT_EQ(counts.total, total + tables);
}

std::int64_t sum_of(const ledger::Ledger& ledger, ledger::Category category,
                    std::string_view block) {
  std::int64_t bytes = 0;
  for (const ledger::Entry& entry : ledger.entries) {
    if (entry.category == category && entry.key.block == block) bytes += entry.bytes.count();
  }
  return bytes;
}

// One layer of a small model: T tokens, h 64, 8 heads of 8, 2 kv heads, f 96.
constexpr std::int64_t kTokens = 32;
std::int64_t kept(const std::string& profile_name, const std::string& targets, double dropout = 0) {
  const model::ModelConfig config = model::read_hf_config(
      R"({"model_type":"llama","vocab_size":50,"hidden_size":64,"intermediate_size":96,)"
      R"("num_hidden_layers":2,"num_attention_heads":8,"num_key_value_heads":2})",
      "small");
  const plan::Profile profile = plan::load_profile(profile_name);
  plan::Plan plan = lora(config, profile, targets, 4, kTokens);
  plan.lora_dropout = dropout;
  return sum_of(predict::predict_memory(config, plan, profile).worst().ledger,
                ledger::Category::saved_activation, "layer");
}

// PyTorch's saved tensors of a frozen Llama layer in bf16 with fused attention and Python norms:
// 8h + 8 + 4ad + 4gd + 4a + 6f bytes per token (counted with saved-tensor hooks on PyTorch 1.13).
constexpr std::int64_t kFrozen = 8 * 64 + 8 + 4 * 64 + 4 * 16 + 4 * 8 + 6 * 96;

TEST(AdapterActivations, AreThoseOfTheFrozenLayerAndTheAdaptersOwn) {
  // q reads the norm's output, 2h, and B the middle of rank 4, 2r.
  EXPECT_EQ(kept("accelerate", "q"), kTokens * (kFrozen + 2 * 64 + 2 * 4));
  // q, k and v share it; o reads the attention's output, which attention keeps anyway.
  EXPECT_EQ(kept("accelerate", "attention"), kTokens * (kFrozen + 2 * 64 + 4 * 2 * 4));
  // Everywhere: gate and up share 2h, down reads its own 2f.
  EXPECT_EQ(kept("accelerate", "all-linear"), kTokens * (kFrozen + 4 * 64 + 2 * 96 + 7 * 2 * 4));
  // Under autocast each adapter casts its input: q, k, v, gate, up 2h, o 2ad, down 2f.
  EXPECT_EQ(kept("peft", "all-linear"),
            kTokens * (kFrozen + 5 * 2 * 64 + 2 * 64 + 2 * 96 + 7 * 2 * 4));
}

TEST(AdapterActivations, UnderDropoutKeepAMaskAndWhatItLeaves) {
  EXPECT_EQ(kept("accelerate", "q", 0.05), kTokens * (kFrozen + 3 * 64 + 2 * 4));
  EXPECT_EQ(kept("accelerate", "attention", 0.05),
            kTokens * (kFrozen + 3 * 3 * 64 + 3 * 64 + 4 * 2 * 4));
}

// LitGPT: q and k beside the whole product of q, k and v (2 (a + 2g) d), one dropout for both
// adapters, and the update of 2 (a + g) d that index_copy keeps as its source.
TEST(AdapterActivations, OfLitgptKeepTheFusedProductAndTheUpdate) {
  EXPECT_EQ(kept("litgpt", "attention-qv", 0.05),
            kTokens * (kFrozen + 2 * (64 + 16) + 3 * 64 + 2 * 2 * 4 + 2 * (64 + 16)));
}

struct Published {
  model::ModelConfig config;
  std::int64_t seq, micro_batch;
  double gigabytes;
};

// Lightning-AI/litgpt, tutorials/resource-tables.md, LoRA on one A100, bf16-true, r = 8, dropout
// 0.05: torch.cuda.max_memory_allocated / 1e9; the longest Alpaca sample of each tokenizer.
TEST(AdapterMemory, OfLitgptIsThePublishedWithinOnePercent) {
  const std::vector<Published> rows{{phi(), 1044, 1, 4.82},       {phi(), 1044, 2, 6.76},
                                    {phi(), 1044, 4, 10.68},      {stablelm(), 1034, 1, 9.69},
                                    {stablelm(), 1034, 2, 12.10}, {stablelm(), 1034, 4, 16.92}};
  const plan::Profile profile = plan::load_profile("litgpt");
  for (const Published& row : rows) {
    plan::Plan plan = lora(row.config, profile, "attention-qv", 8, row.seq);
    plan.lora_dropout = 0.05;
    plan.micro_batch = row.micro_batch;
    plan.grad_accum = 4;
    plan.global_batch = 4 * row.micro_batch;
    const auto memory = predict::predict_memory(row.config, plan, profile);
    const double found = static_cast<double>(memory.allocated_bytes.count()) / 1e9;
    EXPECT_NEAR(found / row.gigabytes, 1, 0.01)
        << row.config.name << ", micro-batch " << row.micro_batch;
  }
}

// The state alone: 8 bytes for each trained parameter in 16 bits throughout, 16 as fp32 adapters.
TEST(AdapterState, IsOfTrainedParametersOnly) {
  const model::ModelConfig config = stablelm();
  const std::int64_t base = model::count_parameters(config).total;
  for (const auto& [name, each] : {std::pair{"litgpt", 8}, {"peft", 16}, {"standard", 16}}) {
    const plan::Profile profile = plan::load_profile(name);
    const plan::Plan plan = lora(config, profile, "attention-qv", 8, 128);
    const auto memory = predict::predict_memory(config, plan, profile);
    EXPECT_EQ(memory.worst().state_bytes, 2 * base + each * 2'097'152) << name;
  }
}

// A matrix of 256 x 128 = 32,768 weights: nf4 16,384 and 512 fp32 scales; doubly quantised 512
// scales of a byte and 2 of fp32; int8 one fp32 scale per row.
TEST(FrozenBase, HasTheBytesOfItsFormat) {
  const model::Parameter up{model::TensorName::up_weight,
                            {{model::Dim::ffn, 256}, {model::Dim::hidden, 128}}};
  const auto bytes = [&up](plan::BasePrecision base) {
    plan::Recipe recipe;
    recipe.base = base;
    const plan::StateTensor weight = plan::frozen_weight(recipe, up, up.elements());
    return bytes_of(weight.elements, weight.dtype) +
           bytes_of(weight.scale_elements, weight.scale_dtype) + 4 * weight.outer_scale_elements;
  };
  EXPECT_EQ(bytes(plan::BasePrecision::nf4), 16'384 + 4 * 512);
  EXPECT_EQ(bytes(plan::BasePrecision::nf4_dq), 16'384 + 512 + 4 * 2);
  EXPECT_EQ(bytes(plan::BasePrecision::int8), 32'768 + 4 * 256);
  EXPECT_EQ(bytes(plan::BasePrecision::fp32), 4 * 32'768);
  EXPECT_EQ(bytes(plan::BasePrecision::bf16), 2 * 32'768);
}

}  // namespace
}  // namespace fourhold
