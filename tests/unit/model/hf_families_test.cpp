// Models that are not built in: their published totals, which no formula here was fitted to. Totals
// are those of the Hugging Face Hub's safetensors metadata unless a line says otherwise; fields are
// those of the published config.json, less what its class assumes anyway.
#include "fourhold/model/hf_families.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/unit/model/read_config.h"

namespace fourhold::model {
namespace {

struct Published {
  const char* name;
  std::int64_t total;
  const char* config;
};

void expect_totals(std::initializer_list<Published> models) {
  for (const Published& model : models) EXPECT_EQ(total(model.config), model.total) << model.name;
}

TEST(HfFamilies, LayerNormsAndBiases) {
  expect_totals({
      {"gpt2-large", 774'030'080,
       R"({"model_type": "gpt2", "n_embd": 1280, "n_layer": 36, "n_head": 20})"},
      {"gpt-neo-1.3B", 1'315'575'808, R"({"model_type": "gpt_neo"})"},
      {"gpt-neo-2.7B", 2'651'307'520,
       R"({"model_type": "gpt_neo", "hidden_size": 2560, "num_layers": 32, "num_heads": 20})"},
      {"pythia-70m", 70'426'624,
       R"({"model_type": "gpt_neox", "hidden_size": 512, "intermediate_size": 2048,
           "num_hidden_layers": 6, "num_attention_heads": 8, "vocab_size": 50304})"},
      {"gpt-neox-20b", 20'554'567'680, R"({"model_type": "gpt_neox"})"},
      {"opt-350m", 331'196'416,
       R"({"model_type": "opt", "hidden_size": 1024, "num_hidden_layers": 24,
           "num_attention_heads": 16, "ffn_dim": 4096, "word_embed_proj_dim": 512,
           "do_layer_norm_before": false})"},
      {"opt-30b", 29'974'540'288,
       R"({"model_type": "opt", "hidden_size": 7168, "num_hidden_layers": 48,
           "num_attention_heads": 56, "ffn_dim": 28672})"},
      {"bloom-1b1", 1'065'314'304,
       R"({"model_type": "bloom", "n_embed": 1536, "n_layer": 24, "num_attention_heads": 16})"},
      {"bloom-3b", 3'002'557'440,
       R"({"model_type": "bloom", "hidden_size": 2560, "n_layer": 30, "n_head": 32})"},
      {"santacoder", 1'124'886'528,
       R"({"model_type": "gpt_bigcode", "vocab_size": 49280, "n_embd": 2048, "n_layer": 24,
           "n_head": 16, "n_positions": 2048, "n_inner": 8192})"},
      {"starcoderbase", 15'517'456'384,
       R"({"model_type": "gpt_bigcode", "vocab_size": 49152, "n_embd": 6144, "n_layer": 40,
           "n_head": 48, "n_positions": 8192, "n_inner": 24576})"},
      {"starcoder2-3b", 3'030'371'328, R"({"model_type": "starcoder2"})"},
      {"falcon-rw-1b", 1'311'625'216,
       R"({"model_type": "falcon", "hidden_size": 2048, "num_hidden_layers": 24,
           "num_attention_heads": 32, "vocab_size": 50304, "alibi": true, "bias": true,
           "multi_query": false, "parallel_attn": false})"},
  });
}

TEST(HfFamilies, AttentionBesideTheFeedForward) {
  expect_totals({
      {"gpt-j-6b", 6'050'882'784, R"({"model_type": "gptj"})"},
      {"phi-1.5", 1'418'270'720, R"({"model_type": "phi"})"},
      {"phi-2", 2'779'683'840,
       R"({"model_type": "phi", "hidden_size": 2560, "intermediate_size": 10240,
           "num_hidden_layers": 32, "num_attention_heads": 32})"},
      {"c4ai-command-r-v01", 34'980'831'232, R"({"model_type": "cohere"})"},
      {"c4ai-command-r-plus", 103'810'674'688,
       R"({"model_type": "cohere", "hidden_size": 12288, "intermediate_size": 33792,
           "num_hidden_layers": 64, "num_attention_heads": 96, "num_key_value_heads": 8,
           "use_qk_norm": true})"},
      {"c4ai-command-r7b", 8'028'033'024,
       R"({"model_type": "cohere2", "hidden_size": 4096, "intermediate_size": 14336,
           "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8})"},
      {"stablelm-3b-4e1t", 2'795'443'200, R"({"model_type": "stablelm"})"},
      {"stablelm-2-1.6b", 1'644'515'328,
       R"({"model_type": "stablelm", "hidden_size": 2048, "intermediate_size": 5632,
           "num_hidden_layers": 24, "num_key_value_heads": 32, "vocab_size": 100352,
           "use_qkv_bias": true})"},
  });
}

TEST(HfFamilies, LlamaAndItsDescendants) {
  expect_totals({
      {"llama-3.2-3b", 3'212'749'824,
       R"({"model_type": "llama", "vocab_size": 128256, "hidden_size": 3072,
           "intermediate_size": 8192, "num_hidden_layers": 28, "num_attention_heads": 24,
           "num_key_value_heads": 8, "head_dim": 128, "tie_word_embeddings": true})"},
      {"tinyllama-1.1b", 1'100'048'384,
       R"({"model_type": "llama", "hidden_size": 2048, "intermediate_size": 5632,
           "num_hidden_layers": 22, "num_attention_heads": 32, "num_key_value_heads": 4})"},
      {"yi-34b", 34'388'917'248,
       R"({"model_type": "llama", "hidden_size": 7168, "intermediate_size": 20480,
           "num_hidden_layers": 60, "num_attention_heads": 56, "num_key_value_heads": 8,
           "vocab_size": 64000})"},
      {"falcon3-1b", 1'669'408'768,
       R"({"model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192,
           "num_hidden_layers": 18, "num_attention_heads": 8, "num_key_value_heads": 4,
           "head_dim": 256, "vocab_size": 131072})"},
      {"smollm3-3b", 3'075'098'624, R"({"model_type": "smollm3"})"},
      {"mistral-nemo-12b", 12'247'782'400,
       R"({"model_type": "mistral", "vocab_size": 131072, "hidden_size": 5120,
           "num_hidden_layers": 40, "head_dim": 128, "sliding_window": null})"},
      {"mistral-large-2407", 122'610'069'504,
       R"({"model_type": "mistral", "hidden_size": 12288, "intermediate_size": 28672,
           "num_hidden_layers": 88, "num_attention_heads": 96, "vocab_size": 32768})"},
      {"qwen2.5-0.5b", 494'032'768,
       R"({"model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864,
           "num_hidden_layers": 24, "num_attention_heads": 14, "num_key_value_heads": 2,
           "tie_word_embeddings": true})"},
      {"qwen2.5-72b", 72'706'203'648,
       R"({"model_type": "qwen2", "hidden_size": 8192, "intermediate_size": 29568,
           "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8,
           "vocab_size": 152064})"},
      {"qwen3-0.6b", 596'049'920,
       R"({"model_type": "qwen3", "hidden_size": 1024, "intermediate_size": 3072,
           "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 8,
           "tie_word_embeddings": true})"},
      {"qwen3-32b", 32'762'123'264,
       R"({"model_type": "qwen3", "hidden_size": 5120, "intermediate_size": 25600,
           "num_hidden_layers": 64, "num_attention_heads": 64, "num_key_value_heads": 8})"},
      {"phi-3-mini", 3'821'079'552, R"({"model_type": "phi3", "sliding_window": 2047})"},
      {"phi-4-mini", 3'836'021'760,
       R"({"model_type": "phi3", "num_attention_heads": 24, "num_key_value_heads": 8,
           "tie_word_embeddings": true, "vocab_size": 200064, "partial_rotary_factor": 0.75})"},
      {"olmo-2-1b", 1'484'916'736,
       R"({"model_type": "olmo2", "vocab_size": 100352, "hidden_size": 2048,
           "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 16})"},
      {"olmo-2-13b", 13'716'198'400,
       R"({"model_type": "olmo2", "vocab_size": 100352, "hidden_size": 5120,
           "intermediate_size": 13824, "num_hidden_layers": 40, "num_attention_heads": 40})"},
      {"olmo-3-7b", 7'298'011'136, R"({"model_type": "olmo3", "vocab_size": 100278})"},
      {"glm-4-9b-0414", 9'400'279'040, R"({"model_type": "glm4", "attention_bias": true})"},
  });
}

TEST(HfFamilies, Gemma) {
  expect_totals({
      {"gemma-7b", 8'537'680'896, R"({"model_type": "gemma"})"},
      {"gemma-2-2b", 2'614'341'888, R"({"model_type": "gemma2"})"},
      {"gemma-2-27b", 27'227'128'320,
       R"({"model_type": "gemma2", "hidden_size": 4608, "intermediate_size": 36864,
           "num_hidden_layers": 46, "num_attention_heads": 32, "num_key_value_heads": 16,
           "head_dim": 128})"},
      {"gemma-3-1b", 999'885'952,
       R"({"model_type": "gemma3_text", "vocab_size": 262144, "hidden_size": 1152,
           "intermediate_size": 6912, "num_attention_heads": 4, "num_key_value_heads": 1})"},
  });
}

TEST(HfFamilies, MixturesOfExperts) {
  expect_totals({
      {"mixtral-8x22b", 140'620'634'112,
       R"({"model_type": "mixtral", "hidden_size": 6144, "intermediate_size": 16384,
           "num_hidden_layers": 56, "num_attention_heads": 48, "num_key_value_heads": 8})"},
      // keras-team/keras-hub, qwen_moe_presets.py
      {"qwen1.5-moe-a2.7b", 14'315'784'192, R"({"model_type": "qwen2_moe"})"},
      {"qwen3-235b-a22b", 235'093'634'560,
       R"({"model_type": "qwen3_moe", "head_dim": 128, "hidden_size": 4096,
           "intermediate_size": 12288, "moe_intermediate_size": 1536, "num_attention_heads": 64,
           "num_hidden_layers": 94, "num_key_value_heads": 4})"},
      {"granite-3.0-1b-a400m", 1'334'628'352,
       R"({"model_type": "granitemoe", "vocab_size": 49155, "hidden_size": 1024,
           "intermediate_size": 512, "num_hidden_layers": 24, "num_attention_heads": 16,
           "num_key_value_heads": 8, "num_local_experts": 32, "num_experts_per_tok": 8,
           "tie_word_embeddings": true})"},
      {"granite-3.2-3b-a800m", 3'298'793'472,
       R"({"model_type": "granitemoe", "vocab_size": 49155, "hidden_size": 1536,
           "intermediate_size": 512, "num_hidden_layers": 32, "num_attention_heads": 24,
           "num_key_value_heads": 8, "num_local_experts": 40, "num_experts_per_tok": 8,
           "tie_word_embeddings": true})"},
      {"olmoe-1b-7b", 6'919'161'856, R"({"model_type": "olmoe", "intermediate_size": 1024})"},
      {"gpt-oss-120b", 116'829'156'672, R"({"model_type": "gpt_oss"})"},
      {"deepseek-v2", 235'741'434'880,
       R"({"model_type": "deepseek_v2", "vocab_size": 102400, "hidden_size": 5120,
           "intermediate_size": 12288, "moe_intermediate_size": 1536, "num_hidden_layers": 60,
           "num_attention_heads": 128, "n_shared_experts": 2, "n_routed_experts": 160,
           "first_k_dense_replace": 1})"},
  });
}

// OpenELM (arXiv 2404.14619): heads and widths that grow with the layer. The largest lists only the
// ends; the published files hold the lists made from them.
TEST(HfFamilies, OpenElm) {
  expect_totals({
      {"OpenELM-270M", 271'527'168,
       R"({"model_type": "openelm", "model_dim": 1280, "head_dim": 64, "num_gqa_groups": 4,
           "num_transformer_layers": 16,
           "num_query_heads": [12, 12, 12, 12, 12, 16, 16, 16, 16, 16, 16, 16, 20, 20, 20, 20],
           "num_kv_heads": [3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5],
           "ffn_dim_divisor": 256,
           "ffn_multipliers": [0.5, 0.73, 0.97, 1.2, 1.43, 1.67, 1.9, 2.13, 2.37, 2.6, 2.83, 3.07,
                               3.3, 3.53, 3.77, 4.0]})"},
      {"OpenELM-450M", 457'179'136,
       R"({"model_type": "openelm", "model_dim": 1536, "head_dim": 64, "num_gqa_groups": 4,
           "num_transformer_layers": 20, "qkv_multipliers": [0.5, 1.0],
           "ffn_multipliers": [0.5, 4.0]})"},
      {"OpenELM-1.1B", 1'079'891'456,
       R"({"model_type": "openelm", "model_dim": 2048, "head_dim": 64, "num_gqa_groups": 4,
           "num_transformer_layers": 28, "qkv_multipliers": [0.5, 1.0],
           "ffn_multipliers": [0.5, 4.0]})"},
      {"OpenELM-3B", 3'036'647'424,
       R"({"model_type": "openelm", "model_dim": 3072, "head_dim": 128, "num_gqa_groups": 4,
           "num_transformer_layers": 36, "qkv_multipliers": [0.5, 1.0],
           "ffn_multipliers": [0.5, 4.0]})"},
  });
}

TEST(HfFamilies, ActiveCountsLeaveOutTheIdleExperts) {
  // 24 layers, 60 - 4 idle experts of 3 * 2048 * 1408.
  const ModelConfig config = read_config(R"({"model_type": "qwen2_moe"})");
  const ParameterCounts counts = count_parameters(config);
  EXPECT_EQ(counts.total - counts.active, 24LL * 56 * 3 * 2048 * 1408);
  EXPECT_EQ(counts.embedding, 151'936LL * 2048);
}

TEST(HfFamilies, SparseLayersOfTheQwenClassesFollowStepAndList) {
  const ModelConfig config = read_config(
      R"({"model_type": "qwen3_moe", "num_hidden_layers": 6, "decoder_sparse_step": 2,
          "mlp_only_layers": [3]})");
  std::vector<bool> sparse;
  for (const std::int32_t layer : config.layers) {
    sparse.push_back(config.kinds[static_cast<std::size_t>(layer)].feed_forward.kind ==
                     FeedForwardKind::experts);
  }
  EXPECT_EQ(sparse, (std::vector<bool>{false, true, false, false, false, true}));
}

// Widths of block_configs: 2 * 2.625 * 64 / 3 = 112, up to a multiple of 256; n_heads_in_group 2 of
// 4 heads gives 2 KV heads.
TEST(HfFamilies, BlockConfigsStateEachLayer) {
  const ModelConfig config = read_config(
      R"({"model_type": "nemotron-nas", "vocab_size": 10, "hidden_size": 64,
          "num_hidden_layers": 3, "num_attention_heads": 4, "block_configs": [
            {"attention": {"n_heads_in_group": 2}, "ffn": {"ffn_mult": 2.625}},
            {"attention": {"no_op": true}, "ffn": {"replace_with_linear": true}},
            {"attention": {"replace_with_linear": true}, "ffn": {"no_op": true}}]})");
  ASSERT_EQ(config.kinds.size(), 3U);
  EXPECT_EQ(config.kinds[0].attention.kv_heads, 2);
  EXPECT_EQ(config.kinds[0].feed_forward.width, 256);
  EXPECT_EQ(config.kinds[1].attention.kind, AttentionKind::none);
  EXPECT_EQ(config.kinds[1].feed_forward.kind, FeedForwardKind::linear);
  EXPECT_EQ(config.kinds[2].attention.kind, AttentionKind::linear);
  EXPECT_EQ(config.kinds[2].feed_forward.kind, FeedForwardKind::none);
  // Layer 0: 2 norms 128, q and o 64*64, k and v 32*64, three 256*64; 1 and 2: norm 64, matrix
  // 64*64. Embedding and head 10*64, final norm 64.
  EXPECT_EQ(total(config), 128 + 2 * 4096 + 2 * 2048 + 3 * 16384 + 2 * (64 + 4096) + 2 * 640 + 64);
}

// DeciLM-7B lists the KV heads alone. Layers: 2 norms 128, q and o 64*64, k and v 32 or 16 wide,
// three 100*64; embedding and head 10*64, final norm 64.
TEST(HfFamilies, KvHeadsMayBeListedPerLayer) {
  const std::string start =
      R"({"model_type": "deci", "vocab_size": 10, "hidden_size": 64, "intermediate_size": 100,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads_per_layer": )";
  EXPECT_EQ(total(start + "[2, 1]}"),
            2 * (128 + 2 * 4096 + 3 * 6400) + 2 * 64 * (32 + 16) + 2 * 640 + 64);
  EXPECT_EQ(refused_config(start + "[2, 3]}").hint(), "the nearest valid value is 2");
  EXPECT_EQ(refused_config(start + "[2]}").where(), "config.json: num_key_value_heads_per_layer");
}

TEST(HfFamilies, PerLayerListsMustCoverEveryLayer) {
  const std::string start =
      R"({"model_type": "openelm", "model_dim": 64, "head_dim": 16, "num_transformer_layers": 3, )";
  EXPECT_EQ(refused_config(start + R"("num_query_heads": [4, 4], "num_kv_heads": [2, 2, 2],
                                      "ffn_multipliers": 2.0})")
                .where(),
            "config.json: num_query_heads");
  EXPECT_EQ(refused_config(start + R"("num_query_heads": [4, 4, 4], "num_kv_heads": [2, 2, 3],
                                      "ffn_multipliers": 2.0})")
                .where(),
            "config.json: num_kv_heads[2]");
  EXPECT_EQ(refused_config(start + R"("num_query_heads": [4, 4, 4]})").where(),
            "config.json: ffn_multipliers");
  EXPECT_EQ(refused_config(R"({"model_type": "nemotron-nas", "vocab_size": 10, "hidden_size": 64,
                               "num_hidden_layers": 1, "num_attention_heads": 4, "block_configs": [
                                 {"attention": {"n_heads_in_group": 3}, "ffn": {"ffn_mult": 1}}]})")
                .where(),
            "config.json: block_configs[0].attention.n_heads_in_group");
  EXPECT_EQ(refused_config(R"({"model_type": "nemotron-nas", "vocab_size": 10, "hidden_size": 64,
                               "num_hidden_layers": 1, "num_attention_heads": 4,
                               "block_configs": [{"attention": {"no_op": true}}]})")
                .where(),
            "config.json: block_configs[0].ffn");
}

// The rounding of OpenELM: to the nearest multiple, or one more below 0.9 of the value.
TEST(HfFamilies, FeedForwardWidthsAreRoundedToTheDivisor) {
  const auto width = [](const std::string& multiplier) {
    return read_config(
               R"({"model_type": "openelm", "model_dim": 1000, "head_dim": 16,
                   "num_transformer_layers": 1, "num_query_heads": [4], "num_kv_heads": [2],
                   "ffn_dim_divisor": 256, "ffn_multipliers": [)" +
               multiplier + "]}")
        .kinds[0]
        .feed_forward.width;
  };
  EXPECT_EQ(width("0.1"), 256);     // at least the divisor
  EXPECT_EQ(width("0.3"), 512);     // 300: 256 is below 0.9 * 300
  EXPECT_EQ(width("0.28"), 256);    // 280: 256 is above 252
  EXPECT_EQ(width("1.152"), 1280);  // 1152 lies halfway: up
}

// Granite 4 micro: 40 layers of attention, dense under the name of the shared expert.
TEST(HfFamilies, AGraniteHybridOfAttentionAloneIsDense) {
  std::string types;
  for (int i = 0; i < 40; ++i) types += i == 0 ? "\"attention\"" : ", \"attention\"";
  EXPECT_EQ(total(R"({"model_type": "granitemoehybrid", "vocab_size": 100352, "hidden_size": 2560,
                      "num_hidden_layers": 40, "num_attention_heads": 40,
                      "num_key_value_heads": 8, "shared_intermediate_size": 8192,
                      "num_local_experts": 0, "tie_word_embeddings": true, "layer_types": [)" +
                  types + "]}"),
            3'402'836'480);
}

TEST(HfFamilies, MambaLayersInAGraniteHybridAreRefused) {
  EXPECT_EQ(refused_config(R"({"model_type": "granitemoehybrid", "num_hidden_layers": 2,
                               "layer_types": ["mamba", "attention"]})")
                .where(),
            "config.json: layer_types");
}

TEST(HfFamilies, EveryFamilyIsFoundByItsName) {
  for (const std::string_view name : family_names()) {
    ASSERT_NE(find_family(name), nullptr) << name;
    EXPECT_EQ(find_family(name)->model_type, name);
  }
  EXPECT_EQ(find_family("RefinedWebModel")->model_type, "falcon");
  EXPECT_EQ(find_family("qwen3_vl_text")->model_type, "qwen3");
  EXPECT_EQ(find_family("gpt5"), nullptr);
}

}  // namespace
}  // namespace fourhold::model
