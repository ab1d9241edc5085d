#include "fourhold/model/numerics.h"

#include <gtest/gtest.h>

#include "fourhold/base/error.h"
#include "fourhold/model/load_model.h"

namespace fourhold::model {
namespace {

Numerics of_builtin(const std::string& name) {
  const ConfigText config = load_config_text(name);
  return read_numerics(config.text, config.name);
}

// openai-community/gpt2 and meta-llama/Llama-3.1-8B, config.json.
TEST(Numerics, OfPublishedModelsAreTheirFiles) {
  const Numerics gpt2 = of_builtin("gpt2");
  EXPECT_EQ(gpt2.norm_epsilon, 1e-5);
  EXPECT_EQ(gpt2.gelu, GeluForm::tanh);
  EXPECT_EQ(gpt2.unsupported, "");
  const Numerics llama = of_builtin("llama-3.1-8b");
  EXPECT_EQ(llama.rotary.base, 500000);
  EXPECT_EQ(llama.rotary.stretch, RotaryStretch::llama3);
  EXPECT_EQ(llama.rotary.factor, 8);
  EXPECT_EQ(llama.rotary.low_frequency_factor, 1);
  EXPECT_EQ(llama.rotary.high_frequency_factor, 4);
  EXPECT_EQ(llama.rotary.original_max_positions, 8192);
}

TEST(Numerics, AbsentFieldsHaveTheDefaultsOfTheClass) {
  const Numerics llama = read_numerics(R"({"model_type":"llama"})", "x");
  EXPECT_EQ(llama.norm_epsilon, 1e-6);
  EXPECT_EQ(llama.rotary.base, 10000);
  EXPECT_EQ(llama.initializer_range, 0.02);
  EXPECT_EQ(read_numerics(R"({"model_type":"gpt2","activation_function":"gelu"})", "x").gelu,
            GeluForm::exact);
}

TEST(Numerics, NewerFilesKeepBothInRopeParameters) {
  const Numerics numerics = read_numerics(
      R"({"model_type":"llama","rope_parameters":{"rope_type":"linear","factor":2,"rope_theta":5}})",
      "x");
  EXPECT_EQ(numerics.rotary.base, 5);
  EXPECT_EQ(numerics.rotary.stretch, RotaryStretch::linear);
  EXPECT_EQ(numerics.rotary.factor, 2);
}

TEST(Numerics, WhatIsNotComputedIsNamed) {
  EXPECT_EQ(
      read_numerics(R"({"model_type":"llama","rope_scaling":{"type":"yarn","factor":4}})", "x")
          .unsupported,
      "rope_scaling.rope_type yarn");
  EXPECT_EQ(read_numerics(R"({"model_type":"gpt2","scale_attn_by_inverse_layer_idx":true})", "x")
                .unsupported,
            "scale_attn_by_inverse_layer_idx true");
  EXPECT_EQ(read_numerics(R"({"model_type":"bloom"})", "x").unsupported, "model_type bloom");
  EXPECT_EQ(read_numerics(R"({"model_type":"llama","hidden_act":"relu2"})", "x").unsupported,
            "hidden_act relu2");
}

TEST(Numerics, AValueOfTheWrongKindNamesItsField) {
  try {
    static_cast<void>(read_numerics(R"({"model_type":"llama","rope_theta":"big"})", "file"));
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "file: rope_theta");
  }
}

}  // namespace
}  // namespace fourhold::model
