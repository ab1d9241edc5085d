#include "tests/torch/small_model.h"

#include <vector>

#include "fourhold/engine/data/token_writer.h"
#include "tests/tested_isa/tested_isa.h"

namespace fourhold::engine::torch_oracle {

std::string config_text(Family family) {
  if (family == Family::gpt2) {
    return R"({"model_type":"gpt2","vocab_size":331,"n_positions":128,"n_embd":96,"n_layer":3,)"
           R"("n_head":6,"activation_function":"gelu_new","layer_norm_epsilon":1e-5,)"
           R"("initializer_range":0.06,"tie_word_embeddings":true,)"
           R"("resid_pdrop":0,"embd_pdrop":0,"attn_pdrop":0})";
  }
  if (family == Family::mistral) {  // a window of less than a third of the sequence
    return R"({"model_type":"mistral","vocab_size":331,"hidden_size":96,"intermediate_size":200,)"
           R"("num_hidden_layers":3,"num_attention_heads":6,"num_key_value_heads":2,)"
           R"("max_position_embeddings":128,"sliding_window":24,"rms_norm_eps":1e-5,)"
           R"("rope_theta":10000.0,"initializer_range":0.06,"hidden_act":"silu",)"
           R"("tie_word_embeddings":false})";
  }
  return R"({"model_type":"llama","vocab_size":331,"hidden_size":96,"intermediate_size":200,)"
         R"("num_hidden_layers":3,"num_attention_heads":6,"num_key_value_heads":2,)"
         R"("max_position_embeddings":128,"rms_norm_eps":1e-5,"rope_theta":10000.0,)"
         R"("initializer_range":0.06,"hidden_act":"silu","tie_word_embeddings":false})";
}

plan::Plan small_plan(Family family, plan::Precision precision) {
  plan::Plan plan;
  plan.profile = "fourhold";
  plan.isa = std::string(plan::to_string(testing::tested_isa()));
  plan.threads = 1;
  plan.precision = precision;
  plan.micro_batch = kMicroBatch;
  plan.grad_accum = kMicroBatches;
  plan.global_batch = kBatch;
  plan.seq = kSeq;
  plan.layers_per_stage = {3};
  if (family == Family::llama) plan.loss_chunk = 48;  // of 160 tokens: the last is shorter
  return plan;
}

StepOptions step_options() {
  StepOptions options;
  options.hyperparameters = {.optimizer = plan::Optimizer::adamw,
                             .beta1 = 0.9,
                             .beta2 = 0.95,
                             .epsilon = 1e-8,
                             .weight_decay = 0.1};
  options.schedule = {
      .decay = Decay::cosine, .peak = 5e-3, .minimum = 5e-4, .warm_up_steps = 4, .steps = kSteps};
  options.clip_norm = 0.7;
  options.seed = 1;
  return options;
}

std::string write_tokens(const std::string& folder) {
  constexpr std::uint32_t kAlphabet = 61;           // of the vocabulary, ids that occur
  constexpr std::int64_t kTokens = 100 * kSeq + 1;  // 12 steps and a half: the data are read twice
  std::vector<data::TokenId> tokens{1};
  std::uint32_t state = 2463534242;
  while (static_cast<std::int64_t>(tokens.size()) < kTokens) {
    state = state * 1664525U + 1013904223U;
    const std::uint32_t drawn = state >> 8;
    const std::uint32_t next =
        drawn % 8 == 0 ? drawn / 8 : 5 * static_cast<std::uint32_t>(tokens.back()) + 7;
    tokens.push_back(static_cast<data::TokenId>(next % kAlphabet));
  }
  std::string path = folder + "/tokens.bin";
  data::TokenWriter writer(path, data::TokenFormat::nanogpt, kVocabulary, data::Masked::no);
  writer.add(tokens);
  writer.end_document();
  static_cast<void>(writer.finish({.tokenizer = "none",
                                   .vocabulary = kVocabulary,
                                   .end_of_text = {},
                                   .tokens = 0,
                                   .documents = 0,
                                   .hash = {},
                                   .mask_hash = {}}));
  return path;
}

}  // namespace fourhold::engine::torch_oracle
