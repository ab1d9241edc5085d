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

// A run of `config` on the built-in text: a constant rate, nothing held out. What a test is about
// (batch, isa, threads, recomputation) it sets itself.
inline TrainSetup training_of(const char* config, plan::Precision precision, std::int64_t steps,
                              double rate) {
  TrainSetup setup;
  setup.model = model::read_hf_config(config, "small");
  setup.numerics = model::read_numerics(config, "small");
  setup.profile = plan::load_profile("fourhold");
  setup.plan.profile = "fourhold";
  setup.plan.precision = precision;
  setup.plan.layers_per_stage = {setup.model.layer_count()};
  setup.steps = steps;
  setup.options.schedule = {
      .decay = Decay::constant, .peak = rate, .minimum = rate, .warm_up_steps = 0, .steps = steps};
  setup.options.seed = 1;
  setup.data.held_out_share = 0;
  return setup;
}

// Four layers, sequences of 32, micro-batches of 2.
inline TrainSetup small_training(plan::Precision precision, std::int64_t grad_accum,
                                 std::int64_t steps) {
  TrainSetup setup = training_of(kSmallLlama, precision, steps, 1e-3);
  plan::Plan& plan = setup.plan;
  plan.isa = "portable";
  plan.micro_batch = 2;
  plan.grad_accum = grad_accum;
  plan.global_batch = 2 * grad_accum;
  plan.seq = 32;
  return setup;
}

inline TrainResult run(const TrainSetup& setup) {
  return train(setup, {.note = [](const std::string&) {},
                       .line = [](const TrainLine&) {},
                       .stop_asked = [] { return false; }});
}

}  // namespace fourhold::engine::testing
