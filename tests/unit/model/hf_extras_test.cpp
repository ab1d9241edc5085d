// What a published total holds beside the language model. Totals are those of the Hugging Face
// Hub's safetensors metadata.
#include "fourhold/model/hf_extras.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/unit/model/read_config.h"

namespace fourhold::model {
namespace {

const Extra* find(const ModelConfig& config, std::string_view name) {
  for (const Extra& extra : config.extras) {
    if (extra.name == name) return &extra;
  }
  return nullptr;
}

std::int64_t with_extras(std::string_view text) {
  const ModelConfig config = read_config(text);
  return total(config) + extra_elements(config);
}

// The Hub's total of gpt2 is 137,022,720: twelve masks of 1024 x 1024.
TEST(HfExtras, Gpt2FilesHoldMasks) {
  EXPECT_EQ(find(read_config(R"({"model_type": "gpt2"})"), "causal mask buffers")->elements,
            12'582'912);
  EXPECT_EQ(with_extras(R"({"model_type": "gpt2"})"), 137'022'720);
}

// Llama-2-7B: 6,738,417,664 = 6,738,415,616 + 32 * 64.
TEST(HfExtras, OldLlamaFilesHoldRotaryFrequencies) {
  EXPECT_EQ(with_extras(R"({"model_type": "llama"})"), 6'738'417'664);
  EXPECT_TRUE(read_config(R"({"model_type": "llama", "rope_theta": 10000.0})").extras.empty());
  EXPECT_TRUE(read_config(R"({"model_type": "llama", "vocab_size": 64000})").extras.empty());
}

TEST(HfExtras, FalconFilesStoreTheHeadTwice) {
  EXPECT_EQ(with_extras(R"({"model_type": "falcon", "hidden_size": 14848, "num_hidden_layers": 80,
                            "num_attention_heads": 232, "num_kv_heads": 8, "vocab_size": 65024,
                            "new_decoder_architecture": true})"),
            179'522'565'120);
}

TEST(HfExtras, PredictionLayersStandApart) {
  EXPECT_EQ(with_extras(R"({"model_type": "glm4_moe", "hidden_size": 5120,
                            "intermediate_size": 12288, "moe_intermediate_size": 1536,
                            "n_routed_experts": 160, "first_k_dense_replace": 3,
                            "num_hidden_layers": 92, "attention_bias": true, "use_qk_norm": true,
                            "num_nextn_predict_layers": 1})"),
            358'337'791'296);
}

constexpr std::string_view kSmallFp8 =
    R"({"model_type": "llama", "vocab_size": 64000, "hidden_size": 256, "intermediate_size": 300,
        "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
        "quantization_config": {"quant_method": "fp8", )";

// q and o 2 x 2 blocks each, k and v 1 x 2, gate and up 3 x 2, down 2 x 3: 4 + 4 + 2 + 2 + 18 = 30.
TEST(HfExtras, Fp8ScalesAreOnePerBlockOfEachLinear) {
  const ModelConfig config =
      read_config(std::string(kSmallFp8) + R"("weight_block_size": [128, 128]}})");
  EXPECT_EQ(find(config, "fp8 block scales")->elements, 2 * 30);
  EXPECT_TRUE(has_note(config, "quantised (fp8)"));
  EXPECT_TRUE(has_note(config, "2 bytes each in 16-bit training"));
}

TEST(HfExtras, ScalesThatAreNotKnownAreNamedWithoutACount) {
  const ModelConfig unknown = read_config(std::string(kSmallFp8) + R"("fmt": "e4m3"}})");
  EXPECT_EQ(find(unknown, "fp8 scales")->elements, 0);
  const ModelConfig exempt = read_config(
      std::string(kSmallFp8) +
      R"("weight_block_size": [128, 128], "modules_to_not_convert": ["model.layers.0.self_attn"]}})");
  EXPECT_EQ(find(exempt, "fp8 block scales")->elements, 0);
}

TEST(HfExtras, OtherQuantisedFilesAreNoted) {
  const ModelConfig config =
      read_config(R"({"model_type": "gpt_oss", "quantization_config": {"quant_method": "mxfp4"}})");
  EXPECT_TRUE(has_note(config, "quantised (mxfp4)"));
  EXPECT_TRUE(config.extras.empty());
}

constexpr std::string_view kSiglip =
    R"("vision_config": {"hidden_size": 1152, "image_size": 896, "intermediate_size": 4304,
                         "num_hidden_layers": 27, "patch_size": 14})";

TEST(HfExtras, VisionTowersMakeUpTheRestOfPublishedTotals) {
  EXPECT_EQ(with_extras(std::string(R"({"model_type": "gemma3", "text_config": {
                "model_type": "gemma3_text", "hidden_size": 3840, "intermediate_size": 15360,
                "num_hidden_layers": 48, "num_attention_heads": 16, "num_key_value_heads": 8}, )") +
                        std::string(kSiglip) + "}"),
            12'187'325'040);  // gemma-3-12b
  EXPECT_EQ(with_extras(std::string(R"({"model_type": "gemma3", "text_config": {
                "model_type": "gemma3_text", "hidden_size": 5376, "intermediate_size": 21504,
                "num_hidden_layers": 62, "num_attention_heads": 32, "num_key_value_heads": 16,
                "head_dim": 128}, )") +
                        std::string(kSiglip) + "}"),
            27'432'406'640);  // gemma-3-27b
  EXPECT_EQ(with_extras(R"({"model_type": "mistral3", "spatial_merge_size": 2, "text_config": {
                "model_type": "mistral", "head_dim": 128, "hidden_size": 5120,
                "intermediate_size": 32768, "num_hidden_layers": 40, "num_key_value_heads": 8,
                "num_attention_heads": 32, "vocab_size": 131072},
                "vision_config": {"patch_size": 14}})"),
            24'011'361'280);  // Mistral-Small-3.2-24B
  EXPECT_EQ(with_extras(R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text",
                "num_local_experts": 128, "interleave_moe_layer_step": 2},
                "vision_config": {"hidden_size": 1408, "image_size": 336,
                                  "vision_output_dim": 4096}})"),
            401'583'781'376);  // Llama-4-Maverick
  EXPECT_EQ(with_extras(R"({"model_type": "qwen3_vl", "text_config": {
                "model_type": "qwen3_vl_text", "hidden_size": 2560, "intermediate_size": 9728,
                "num_hidden_layers": 36, "num_key_value_heads": 8, "tie_word_embeddings": true},
                "vision_config": {"depth": 24, "hidden_size": 1024, "intermediate_size": 4096,
                                  "out_hidden_size": 2560,
                                  "deepstack_visual_indexes": [5, 11, 17]}})"),
            4'437'815'808);  // Qwen3-VL-4B
}

TEST(HfExtras, TowersThatAreNotDerivedAreNamedWithoutACount) {
  const ModelConfig config = read_config(
      R"({"model_type": "llava", "text_config": {"model_type": "llama"}, "audio_config": {},
          "vision_config": {"hidden_size": 1024}})");
  EXPECT_EQ(find(config, "vision tower")->elements, 0);
  EXPECT_EQ(find(config, "audio tower")->elements, 0);
  EXPECT_FALSE(find(config, "vision tower")->why.empty());
  const ModelConfig missing =
      read_config(R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text"}})");
  EXPECT_NE(find(missing, "vision tower")->why.find("lacks its vision_config"), std::string::npos);
}

}  // namespace
}  // namespace fourhold::model
