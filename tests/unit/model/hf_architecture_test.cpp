#include "fourhold/model/hf_architecture.h"

#include <gtest/gtest.h>

#include "tests/unit/model/read_config.h"

namespace fourhold::model {
namespace {

TEST(HfArchitecture, AClassOfAnotherFamilyIsNoted) {
  const ModelConfig config =
      read_config(R"({"model_type": "llama", "architectures": ["MixtralForCausalLM"]})");
  EXPECT_TRUE(has_note(config,
                       "architectures names a class of 'mixtral', but model_type is 'llama': the "
                       "latter is followed"));
  EXPECT_EQ(total(config), total(R"({"model_type": "llama"})"));
  // Kimi K2 is published with the class it shares with DeepSeek-V3; old Falcons with RW.
  for (const char* text : {R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"]})",
                           R"({"model_type": "falcon", "architectures": ["RWForCausalLM"]})",
                           R"({"model_type": "llama", "architectures": ["SomethingElse"]})",
                           R"({"model_type": "llama", "architectures": []})",
                           R"({"model_type": "llama", "architectures": null})"}) {
    EXPECT_FALSE(has_note(read_config(text), "architectures")) << text;
  }
}

TEST(HfArchitecture, AClassThatIsKnownIsNotedWhereTheTypeIsNot) {
  const ModelConfig config = read_config(
      R"({"model_type": "mine", "architectures": ["MixtralForCausalLM"], "vocab_size": 32000,
          "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
          "num_attention_heads": 4, "hidden_act": "silu", "rms_norm_eps": 1e-6})");
  EXPECT_TRUE(has_note(config, "architectures names a class of 'mixtral'"));
  const Error error =
      refused_config(R"({"model_type": "mine", "architectures": ["MixtralForCausalLM"]})");
  EXPECT_NE(error.hint().find("a class of 'mixtral'"), std::string::npos);
}

TEST(HfArchitecture, AWrongKindIsRefused) {
  for (const char* value : {"\"x\"", "true", "{}", "[1]"}) {
    const Error error =
        refused_config(std::string(R"({"model_type": "llama", "architectures": )") + value + "}");
    EXPECT_EQ(error.where(), "config.json: architectures");
    EXPECT_STREQ(error.what(), "must be a list of names");
  }
}

}  // namespace
}  // namespace fourhold::model
