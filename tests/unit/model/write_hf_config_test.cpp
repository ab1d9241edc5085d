#include "fourhold/model/write_hf_config.h"

#include <gtest/gtest.h>

#include <string>

#include "fourhold/base/error.h"
#include "fourhold/base/json.h"
#include "fourhold/model/config_difference.h"
#include "fourhold/model/hf_config.h"
#include "fourhold/model/load_model.h"

namespace fourhold::model {
namespace {

class WrittenConfig : public testing::TestWithParam<std::string> {};

TEST_P(WrittenConfig, ReadsBackAsTheSameModel) {
  const ModelConfig config = load_model(GetParam());
  const ModelConfig read = read_hf_config(write_hf_config(config, DType::bf16, {}), "written");
  EXPECT_EQ(config_differences(config, read), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Families, WrittenConfig,
                         testing::Values("gpt2", "gpt2-xl", "llama-2-7b", "llama-3.1-8b",
                                         "llama-3.2-1b", "smollm2-135m", "mistral-7b-v0.1",
                                         "qwen2.5-7b", "qwen3-8b"));

TEST(WriteHfConfig, NamesTheClassAndTheTypeOfTheWeights) {
  const json::Value written =
      json::parse(write_hf_config(load_model("qwen3-8b"), DType::bf16, {}), "written");
  EXPECT_EQ(written.find("architectures")->array().front().string(), "Qwen3ForCausalLM");
  EXPECT_EQ(written.find("torch_dtype")->string(), "bfloat16");
  EXPECT_EQ(written.find("hidden_act")->string(), "silu");
}

TEST(WriteHfConfig, CarriesWhatAModelConfigDoesNotDescribe) {
  const json::Object carried{{"rope_theta", 500000.0},   {"rms_norm_eps", 1e-05},
                             {"bos_token_id", 128000},   {"hidden_size", 1},
                             {"torch_dtype", "float16"}, {"_name_or_path", "elsewhere"}};
  const json::Value written =
      json::parse(write_hf_config(load_model("llama-3.1-8b"), DType::fp32, carried), "written");
  EXPECT_EQ(written.find("rope_theta")->number(), 500000.0);
  EXPECT_EQ(written.find("bos_token_id")->integer(), 128000);
  EXPECT_EQ(written.find("hidden_size")->integer(), 4096);
  EXPECT_EQ(written.find("torch_dtype")->string(), "float32");
  EXPECT_EQ(written.find("_name_or_path"), nullptr);
}

TEST(WriteHfConfig, KeepsTheVariantOfGeluThatTheSourceStates) {
  const json::Object carried{{"activation_function", "gelu"}};
  const json::Value written =
      json::parse(write_hf_config(load_model("gpt2"), DType::fp32, carried), "written");
  EXPECT_EQ(written.find("activation_function")->string(), "gelu");
  EXPECT_NE(write_hf_config(load_model("gpt2"), DType::fp32, {}).find("\"gelu_new\""),
            std::string::npos);
}

TEST(WriteHfConfig, WindowsOfSingleLayersSurvive) {
  const ModelConfig config = read_hf_config(
      R"({"model_type": "qwen2", "vocab_size": 8, "hidden_size": 8, "intermediate_size": 8,
          "num_hidden_layers": 4, "num_attention_heads": 2, "num_key_value_heads": 1,
          "use_sliding_window": true, "sliding_window": 16, "max_window_layers": 2})",
      "windows");
  const ModelConfig read = read_hf_config(write_hf_config(config, DType::bf16, {}), "written");
  EXPECT_EQ(read.kinds[static_cast<std::size_t>(read.layers[3])].attention.window, 16);
  EXPECT_EQ(config_differences(config, read), std::vector<std::string>{});
}

TEST(WriteHfConfig, RefusesAModelThatItsTypeCannotDescribe) {
  ModelConfig config = load_model("llama-3.2-1b");
  config.kinds.front().attention.qk_norm = QkNorm::per_head;
  EXPECT_THROW(static_cast<void>(write_hf_config(config, DType::bf16, {})), Error);
  EXPECT_THROW(static_cast<void>(write_hf_config(load_model("gemma-2b"), DType::bf16, {})), Error);
  EXPECT_THROW(static_cast<void>(write_hf_config(load_model("gpt2"), DType::fp8, {})), Error);
}

}  // namespace
}  // namespace fourhold::model
