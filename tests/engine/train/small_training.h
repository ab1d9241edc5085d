// A small model made ready to train, for tests of whole runs.
#pragma once

#include <cstdint>
#include <string>

#include "fourhold/engine/train/train_run.h"
#include "fourhold/model/hf_config.h"

namespace fourhold::engine::testing {

inline constexpr const char* kSmallLlama =
    R"({"model_type":"llama","vocab_size":257,"hidden_size":64,"intermediate_size":128,)"
    R"("num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":4,)"
    R"("max_position_embeddings":64,"tie_word_embeddings":false})";

// Four layers, sequences of 32, micro-batches of 2; a constant rate, nothing held out.
inline TrainSetup small_training(plan::Precision precision, std::int64_t grad_accum,
                                 std::int64_t steps) {
  TrainSetup setup;
  setup.model = model::read_hf_config(kSmallLlama, "small");
  setup.numerics = model::read_numerics(kSmallLlama, "small");
  setup.profile = plan::load_profile("fourhold");
  plan::Plan& plan = setup.plan;
  plan.profile = "fourhold";
  plan.isa = "portable";
  plan.precision = precision;
  plan.micro_batch = 2;
  plan.grad_accum = grad_accum;
  plan.global_batch = 2 * grad_accum;
  plan.seq = 32;
  plan.layers_per_stage = {4};
  setup.steps = steps;
  setup.options.schedule = {
      .decay = Decay::constant, .peak = 1e-3, .minimum = 1e-3, .warm_up_steps = 0, .steps = steps};
  setup.options.seed = 1;
  setup.data.held_out_share = 0;
  return setup;
}

inline TrainResult run(const TrainSetup& setup) {
  return train(setup, {.note = [](const std::string&) {},
                       .line = [](const TrainLine&) {},
                       .stop_asked = [] { return false; }});
}

}  // namespace fourhold::engine::testing
