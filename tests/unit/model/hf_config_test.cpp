// The rules that hold for every family. The cases follow reports of real tools going wrong; each
// names its report.
#include "fourhold/model/hf_config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/model/read_config.h"

namespace fourhold::model {
namespace {

constexpr std::int64_t kLlama2 = 6'738'415'616;

// Llama-2-7B, with more members in front.
std::string llama2(const std::string& more) {
  return R"({"model_type": "llama", )" + more +
         R"("hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
            "num_attention_heads": 32, "vocab_size": 32000, "tie_word_embeddings": false})";
}

// bitsandbytes issue 781: old files lack num_key_value_heads.
TEST(HfConfig, KvHeadsAbsentNullOrEqualToHeadsAreTheSame) {
  EXPECT_EQ(total(llama2("")), kLlama2);
  EXPECT_EQ(total(llama2(R"("num_key_value_heads": null, )")), kLlama2);
  EXPECT_EQ(total(llama2(R"("num_key_value_heads": 32, )")), kLlama2);
}

// RahulSChand/gpu_poor all_configs.json: Llama-2-70B without KV heads is 80 * 2 * 8192 * 7168 more
// than the real 68,976,648,192.
TEST(HfConfig, AssumedKvHeadsAreNoted) {
  const ModelConfig config = read_config(
      R"({"model_type": "llama", "hidden_size": 8192, "intermediate_size": 28672,
          "num_hidden_layers": 80, "num_attention_heads": 64, "vocab_size": 32000})");
  EXPECT_EQ(total(config), 78'371'889'152);
  EXPECT_TRUE(has_note(config, "as many KV heads as heads, 64, are assumed"));
}

// ramanathanlab/genslm issue 110.
TEST(HfConfig, HeadsThatDoNotDivideHiddenNeedAHeadDim) {
  const Error error = refused_config(
      R"({"model_type": "llama", "hidden_size": 100, "num_attention_heads": 3,
          "intermediate_size": 256, "num_hidden_layers": 2, "vocab_size": 1000})");
  EXPECT_EQ(error.where(), "config.json: hidden_size");
  EXPECT_STREQ(
      error.what(),
      "hidden_size 100 is not a multiple of num_attention_heads 3, and head_dim is absent");
  EXPECT_NE(error.hint().find("2 heads"), std::string::npos);
  EXPECT_GT(total(R"({"model_type": "llama", "hidden_size": 100, "num_attention_heads": 3,
                      "head_dim": 32, "intermediate_size": 256, "num_hidden_layers": 2,
                      "vocab_size": 1000})"),
            0);
}

TEST(HfConfig, KvHeadsMustDivideHeads) {
  const Error error = refused_config(llama2(R"("num_key_value_heads": 5, )"));
  EXPECT_EQ(error.where(), "config.json: num_key_value_heads");
  EXPECT_STREQ(error.what(), "5 KV heads do not divide num_attention_heads 32");
  EXPECT_EQ(error.hint(), "the nearest valid value is 4");
}

// BLOOM's published variants spell one field in several ways.
TEST(HfConfig, AliasesOfAFieldAreOneField) {
  const std::int64_t bloom = 559'214'592;
  EXPECT_EQ(total(R"({"model_type": "bloom", "n_embed": 1024, "n_layer": 24, "n_head": 16,
                      "n_inner": null})"),
            bloom);
  EXPECT_EQ(total(R"({"model_type": "bloom", "hidden_size": 1024, "n_embed": 1024,
                      "num_hidden_layers": 24, "num_attention_heads": 16})"),
            bloom);
  EXPECT_EQ(refused_config(R"({"model_type": "bloom", "n_layer": 24, "n_head": 16})").where(),
            "config.json: hidden_size");
}

TEST(HfConfig, AliasesThatDisagreeAreRefused) {
  const Error error = refused_config(
      R"({"model_type": "bloom", "hidden_size": 1024, "n_embed": 2048, "n_layer": 2, "n_head": 2})");
  EXPECT_EQ(error.where(), "config.json: n_embed");
  EXPECT_STREQ(error.what(), "is 2048, but hidden_size, another name of it, is 1024");
}

TEST(HfConfig, WhatIsAbsentComesFromTheClassAndIsNoted) {
  const ModelConfig config = read_config(R"({"model_type": "gpt2"})");
  EXPECT_EQ(total(config), 124'439'808);
  EXPECT_TRUE(has_note(config, "hidden_size is absent: 768, the default of its class, is used"));
  EXPECT_EQ(config.dropout, 0.1);
  EXPECT_EQ(config.attention_dropout, 0.1);
  EXPECT_EQ(config.embedding_dropout, 0.1);
}

// Gemma-2-9B states no tie: untied it would be 917,504,000 more.
TEST(HfConfig, WhetherTheHeadIsTiedDependsOnTheClass) {
  EXPECT_TRUE(read_config(R"({"model_type": "gemma2"})").tied);
  EXPECT_TRUE(read_config(R"({"model_type": "starcoder2"})").tied);
  EXPECT_FALSE(read_config(R"({"model_type": "llama"})").tied);
  EXPECT_FALSE(read_config(R"({"model_type": "qwen3"})").tied);
  EXPECT_TRUE(read_config(R"({"model_type": "qwen3", "tie_word_embeddings": true})").tied);
}

// Llama-3.1-405B as first released had 16 KV heads: 126 * 2 * 16384 * 128 * 8 more.
TEST(HfConfig, MoreKvHeadsAddTheirProjections) {
  const std::string start =
      R"({"model_type": "llama", "hidden_size": 16384, "intermediate_size": 53248,
          "num_hidden_layers": 126, "num_attention_heads": 128, "vocab_size": 128256,
          "rope_theta": 500000.0, "num_key_value_heads": )";
  EXPECT_EQ(total(start + "8}"), 405'853'388'800);
  EXPECT_EQ(total(start + "16}"), 410'081'247'232);
}

TEST(HfConfig, ATextConfigIsTheLanguageModel) {
  const ModelConfig config = read_config(
      R"({"model_type": "qwen3_vl", "tie_word_embeddings": true,
          "text_config": {"model_type": "qwen3_vl_text", "head_dim": 128, "hidden_size": 2560,
                          "intermediate_size": 9728, "num_attention_heads": 32,
                          "num_hidden_layers": 36, "num_key_value_heads": 8,
                          "vocab_size": 151936}})");
  EXPECT_EQ(total(config), 4'022'468'096);
  EXPECT_EQ(config.model_type, "qwen3_vl");
  EXPECT_TRUE(config.tied) << "the wrapper's tie holds where the text_config states none";
}

TEST(HfConfig, FaultsInsideATextConfigAreNamedByTheirPath) {
  EXPECT_EQ(refused_config(R"({"model_type": "gemma3", "text_config": {"num_hidden_layers": "x"}})")
                .where(),
            "config.json: text_config.num_hidden_layers");
}

TEST(HfConfig, WithoutModelTypeTheArchitectureDecides) {
  EXPECT_EQ(total(R"({"architectures": ["GPT2LMHeadModel"]})"), 124'439'808);
  EXPECT_EQ(total(R"({"architectures": ["GPTNeoXForCausalLM"]})"), 20'554'567'680);
  EXPECT_EQ(refused_config("{}").where(), "config.json: model_type");
  EXPECT_NE(refused_config(R"({"dim": 4096, "n_layers": 32})").hint().find("params.json"),
            std::string::npos);
}

TEST(HfConfig, PythonLiteralsAreAccepted) {
  EXPECT_EQ(total(R"({"model_type": "gpt2", "time_step_limit": [0.0, Infinity], "x": NaN})"),
            124'439'808);
}

TEST(HfConfig, WrongKindsAndValuesAreRefusedByName) {
  EXPECT_STREQ(refused_config(R"({"model_type": "gpt2", "n_embd": "768"})").what(),
               "must be an integer, not a string");
  EXPECT_STREQ(refused_config(R"({"model_type": "gpt2", "n_layer": 0})").what(),
               "is 0; it must be from 1 to 4096");
  EXPECT_STREQ(refused_config(R"({"model_type": "gpt2", "n_layer": -12})").what(),
               "is -12; it must be from 1 to 4096");
  EXPECT_STREQ(refused_config(R"({"model_type": "gpt2", "vocab_size": 4294967296})").what(),
               "is 4294967296; it must be from 1 to 2147483647");
  EXPECT_STREQ(refused_config(R"({"model_type": "gpt2", "n_embd": 768.0})").what(),
               "must be an integer, not 768.0");
  EXPECT_EQ(refused_config(R"({"model_type": 7})").where(), "config.json: model_type");
  EXPECT_EQ(refused_config("[]").where(), "config.json");
  EXPECT_NE(std::string(refused_config("{\"model_type\": ").what()).find("line 1"),
            std::string::npos);
}

TEST(HfConfig, SizesThatOverflowTogetherAreRefused) {
  const Error error = refused_config(
      R"({"model_type": "llama", "hidden_size": 2147483647, "num_attention_heads": 1,
          "vocab_size": 2147483647, "num_hidden_layers": 2, "intermediate_size": 2147483647})");
  EXPECT_EQ(error.where(), "config.json: hidden_size");
  EXPECT_NE(std::string(error.what()).find("more than 10^15 parameters"), std::string::npos);
  EXPECT_EQ(refused_config(R"({"model_type": "gpt2", "n_positions": 2147483647})").where(),
            "config.json: hidden_size");
}

TEST(HfConfig, OtherKindsOfModelsAreNamedAndRefused) {
  struct Case {
    const char* model_type;
    const char* kind;
  };
  for (const Case& other :
       {Case{"nemotron_h", "Mamba"}, Case{"mamba2", "state-space"}, Case{"jamba", "Mamba"},
        Case{"bamba", "Mamba"}, Case{"falcon_h1", "Mamba"}, Case{"zamba2", "Mamba"},
        Case{"rwkv", "recurrent"}, Case{"t5", "encoder-decoder"}, Case{"bart", "encoder-decoder"},
        Case{"bert", "encoder"}, Case{"qwen3_next", "linear attention"},
        Case{"minimax", "linear attention"}}) {
    const Error error =
        refused_config(std::string(R"({"model_type": ")") + other.model_type + "\"}");
    EXPECT_EQ(error.where(), "config.json: model_type");
    EXPECT_NE(std::string(error.what()).find(other.kind), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(other.model_type), std::string::npos);
  }
  EXPECT_EQ(refused_config(R"({"model_type": "gpt2", "add_cross_attention": true})").where(),
            "config.json: add_cross_attention");
}

constexpr const char* kUnknown =
    R"("hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
       "num_attention_heads": 32, "num_key_value_heads": 32, "vocab_size": 32000,
       "hidden_act": "silu", "rms_norm_eps": 1e-6})";

TEST(HfConfig, AnUnknownTypeWithEveryFieldOfALlamaIsCountedAndNoted) {
  const ModelConfig config = read_config(std::string(R"({"model_type": "newlm", )") + kUnknown);
  EXPECT_EQ(total(config), kLlama2);
  EXPECT_TRUE(has_note(config, "the model type 'newlm' is not known"));
  EXPECT_TRUE(has_note(config, "tied, the count would be 131072000 less"));  // 32000 * 4096
}

TEST(HfConfig, AnUnknownTypeWithForeignFieldsIsRefused) {
  for (const char* field :
       {"num_experts", "ssm_state_size", "q_lora_rank", "layer_norm_eps", "use_qkv_bias"}) {
    const Error error = refused_config(std::string(R"({"model_type": "newlm", ")") + field +
                                       R"(": 8, )" + kUnknown);
    EXPECT_EQ(error.where(), std::string("config.json: ") + field);
  }
}

TEST(HfConfig, AnUnknownTypeWithFieldsMissingIsRefusedWithNearNames) {
  const Error error = refused_config(R"({"model_type": "lama", "hidden_size": 64})");
  EXPECT_EQ(error.where(), "config.json: model_type");
  EXPECT_NE(error.hint().find("'llama'"), std::string::npos);
}

TEST(HfConfig, SupportedTypesAreSorted) {
  const std::vector<std::string_view> types = supported_model_types();
  EXPECT_TRUE(std::is_sorted(types.begin(), types.end()));
  EXPECT_NE(std::find(types.begin(), types.end(), "deepseek_v3"), types.end());
}

TEST(HfConfig, AWrapperWithoutItsTextConfigSaysSo) {
  const Error error = refused_config(R"({"model_type": "qwen3_vl", "vision_config": {}})");
  EXPECT_EQ(error.where(), "config.json: text_config");
  EXPECT_STREQ(error.what(), "is missing: 'qwen3_vl' keeps its language model there");
}

TEST(HfConfig, APlanFileIsNotTakenForAModel) {
  EXPECT_EQ(refused_config(R"({"tp": 2, "seq": 128})").where(), "config.json: schema");
  EXPECT_STREQ(refused_config(R"({"plan": {}})").what(),
               "is missing: 'plan' belongs to a plan file");
  EXPECT_STREQ(refused_config(R"({"schema": "fourhold.ledger/1"})").what(),
               "'fourhold.ledger/1' is not a model's config.json");
}

}  // namespace
}  // namespace fourhold::model
