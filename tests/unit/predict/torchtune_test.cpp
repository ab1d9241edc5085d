// Profile torchtune against its own table of memory: pytorch/torchtune, README (November 2024),
// Llama 3.2 3B on one A100, two packed sequences of 4,096 tokens, GiB of active memory.
#include <gtest/gtest.h>

#include "fourhold/model/hf_config.h"
#include "fourhold/plan/lora_targets.h"
#include "fourhold/plan/plan_request.h"
#include "fourhold/predict/memory.h"

namespace fourhold {
namespace {

constexpr double kGiB = 1 << 30;

model::ModelConfig llama() {  // meta-llama/Llama-3.2-3B: 3,212,749,824 parameters
  return model::read_hf_config(
      R"({"model_type":"llama","vocab_size":128256,"hidden_size":3072,"intermediate_size":8192,)"
      R"("num_hidden_layers":28,"num_attention_heads":24,"num_key_value_heads":8,"head_dim":128,)"
      R"("tie_word_embeddings":true})",
      "llama-3.2-3b");
}

plan::PlanRequest two_sequences() {
  plan::PlanRequest request;
  request.micro_batch = 2;
  request.seq = 4096;
  return request;
}

predict::MemoryPrediction memory_of(const plan::PlanRequest& request,
                                    const plan::Profile& profile) {
  const model::ModelConfig config = llama();
  return predict::predict_memory(config, plan::complete(request, config, profile), profile);
}

double allocated_gib(const plan::PlanRequest& request, const plan::Profile& profile) {
  return static_cast<double>(memory_of(request, profile).allocated_bytes.count()) / kGiB;
}

// What `compile: True` leaves of a layer and of the loss of a piece.
plan::Profile compiled() {
  plan::Profile profile = plan::load_profile("torchtune");
  profile.switches.norm = model::NormSaving::input;
  profile.switches.activation = model::ActivationSaving::fused;
  profile.switches.loss = model::LossSaving::in_place;
  return profile;
}

TEST(Torchtune, KeepsEightBytesOfEachParameterBetweenSteps) {
  // 2 of weight and 4 of moments; gradients are gone.
  const predict::MemoryPrediction memory =
      memory_of(two_sequences(), plan::load_profile("torchtune"));
  EXPECT_EQ(memory.worst().state_bytes, 8 * 3'212'749'824);
}

TEST(Torchtune, HoldsWhatItsTableSaysOfPackedSequences) {
  plan::Profile profile = plan::load_profile("torchtune");
  profile.switches.loss = model::LossSaving::eager;  // that row's loss is in one piece
  EXPECT_NEAR(allocated_gib(two_sequences(), profile), 60.0, 0.04 * 60.0);
}

TEST(Torchtune, HoldsWhatItsTableSaysOfCheckpointing) {
  plan::PlanRequest request = two_sequences();
  request.recompute = plan::recompute_from_string("full");
  EXPECT_NEAR(allocated_gib(request, compiled()), 24.9, 0.01 * 24.9);
}

TEST(Torchtune, HoldsWhatItsTableSaysOfAdapters) {
  plan::PlanRequest request = two_sequences();
  request.recompute = plan::recompute_from_string("full");
  request.activation_offload = plan::ActivationOffload::residual;
  request.tuning = plan::Tuning::lora;
  request.lora_rank = 64;
  request.lora_targets = plan::lora_targets_from_string("q,v,o,gate,up,down");
  EXPECT_NEAR(allocated_gib(request, compiled()), 8.5, 0.05 * 8.5);
  request.tuning = plan::Tuning::qlora;
  EXPECT_NEAR(allocated_gib(request, compiled()), 4.6, 0.05 * 4.6);
}

}  // namespace
}  // namespace fourhold
