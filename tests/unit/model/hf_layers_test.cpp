#include "fourhold/model/hf_layers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/model/read_config.h"

namespace fourhold::model {
namespace {

// The window of each of the first layers.
std::vector<std::int64_t> windows(const ModelConfig& config, std::size_t count) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(config.kinds[static_cast<std::size_t>(config.layers[i])].attention.window);
  }
  return out;
}

TEST(HfLayers, EqualLayersShareOneKind) {
  const ModelConfig config = read_config(R"({"model_type": "llama"})");
  EXPECT_EQ(config.kinds.size(), 1U);
  EXPECT_EQ(config.layers, std::vector<std::int32_t>(32, 0));
}

TEST(HfLayers, WindowsFollowTheRuleOfTheClass) {
  using V = std::vector<std::int64_t>;
  EXPECT_EQ(windows(read_config(R"({"model_type": "gemma2"})"), 4), (V{4096, 0, 4096, 0}));
  EXPECT_EQ(windows(read_config(R"({"model_type": "gpt_oss"})"), 4), (V{128, 0, 128, 0}));
  EXPECT_EQ(windows(read_config(R"({"model_type": "gemma3_text", "sliding_window": 512})"), 7),
            (V{512, 512, 512, 512, 512, 0, 512}));
  EXPECT_EQ(windows(read_config(R"({"model_type": "llama4_text"})"), 5),
            (V{8192, 8192, 8192, 0, 8192}));
  EXPECT_EQ(windows(read_config(R"({"model_type": "olmo3"})"), 4), (V{4096, 4096, 4096, 0}));
}

TEST(HfLayers, ANullWindowIsNoneAndAnAbsentOneIsTheClasss) {
  EXPECT_EQ(windows(read_config(R"({"model_type": "mistral"})"), 1)[0], 4096);
  EXPECT_EQ(windows(read_config(R"({"model_type": "mistral", "sliding_window": null})"), 1)[0], 0);
}

TEST(HfLayers, QwenUsesItsWindowOnlyWhenToldAndFromALayerOn) {
  const std::string start = R"({"model_type": "qwen2", "num_hidden_layers": 4, )";
  EXPECT_EQ(windows(read_config(start + R"("sliding_window": 512})"), 4),
            (std::vector<std::int64_t>{0, 0, 0, 0}));
  EXPECT_EQ(windows(read_config(start + R"("sliding_window": 512, "use_sliding_window": true,
                                           "max_window_layers": 2})"),
                    4),
            (std::vector<std::int64_t>{0, 0, 512, 512}));
}

TEST(HfLayers, LayerTypesOverruleTheClass) {
  const std::string start =
      R"({"model_type": "mistral", "num_hidden_layers": 2, "sliding_window": 64, )";
  EXPECT_EQ(
      windows(read_config(start + R"("layer_types": ["full_attention", "sliding_attention"]})"), 2),
      (std::vector<std::int64_t>{0, 64}));
  EXPECT_EQ(refused_config(start + R"("layer_types": ["full_attention"]})").where(),
            "config.json: layer_types");
  EXPECT_EQ(
      refused_config(start + R"("layer_types": ["full_attention", "linear_attention"]})").where(),
      "config.json: layer_types[1]");
}

TEST(HfLayers, AThousandDifferentLayersAreTheLimit) {
  const auto with_layers = [](int count) {
    std::string heads;
    std::string kv_heads;
    for (int i = 1; i <= count; ++i) {
      heads += (i > 1 ? ", " : "") + std::to_string(i);
      kv_heads += i > 1 ? ", 1" : "1";
    }
    return R"({"model_type": "openelm", "model_dim": 64, "head_dim": 16, "ffn_multipliers": 1.0,
               "num_transformer_layers": )" +
           std::to_string(count) + R"(, "num_query_heads": [)" + heads + R"(], "num_kv_heads": [)" +
           kv_heads + "]}";
  };
  EXPECT_EQ(read_config(with_layers(1000)).kinds.size(), 1000U);
  EXPECT_EQ(refused_config(with_layers(1001)).where(), "config.json: num_hidden_layers");
}

TEST(HfLayers, MoreActiveExpertsThanExpertsAreRefused) {
  const Error error = refused_config(
      R"({"model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 8})");
  EXPECT_EQ(error.where(), "config.json: num_experts_per_tok");
  EXPECT_EQ(error.hint(), "the nearest valid value is 4");
}

}  // namespace
}  // namespace fourhold::model
