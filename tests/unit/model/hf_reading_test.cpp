#include "fourhold/model/hf_reading.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/model/read_config.h"

namespace fourhold::model {
namespace {

ActivationKind activation(const std::string& more) {
  return read_config(R"({"model_type": "llama")" + more + "}").kinds[0].feed_forward.activation;
}

TEST(HfReading, VariantsOfAnActivationAreOneKind) {
  EXPECT_EQ(activation(""), ActivationKind::silu);
  EXPECT_EQ(activation(R"(, "hidden_act": "swish")"), ActivationKind::silu);
  EXPECT_EQ(activation(R"(, "hidden_act": "gelu_pytorch_tanh")"), ActivationKind::gelu);
  EXPECT_EQ(activation(R"(, "hidden_act": "relu")"), ActivationKind::relu);
}

TEST(HfReading, AnActivationThatIsNotKnownIsRefused) {
  const Error error = refused_config(R"({"model_type": "llama", "hidden_act": "relu2"})");
  EXPECT_EQ(error.where(), "config.json: hidden_act");
  EXPECT_NE(error.hint().find("silu"), std::string::npos);
}

// Rotary positions turn pairs of columns: an odd column has no partner.
TEST(HfReading, AnOddNumberOfTurnedColumnsIsRefusedWithTheNearestEvenOnes) {
  const Error seven = refused_config(R"({"model_type": "llama", "head_dim": 7})");
  EXPECT_EQ(seven.where(), "config.json: head_dim");
  EXPECT_EQ(seven.hint(), "the nearest valid values are 6 and 8");
  EXPECT_EQ(refused_config(R"({"model_type": "llama", "head_dim": 1})").hint(),
            "the nearest valid value is 2");
  // A quarter of 12 columns is 3; of 9 it is 2.25, which is 2 columns, and of 14 3.5, which is 4.
  EXPECT_EQ(refused_config(R"({"model_type": "gpt_neox", "hidden_size": 768,
                               "num_attention_heads": 64})")
                .hint(),
            "the nearest valid values are 9 and 14");
  EXPECT_EQ(read_config(R"({"model_type": "gpt2", "n_embd": 21, "n_head": 3})")
                .kinds[0]
                .attention.head_dim,
            7);
}

TEST(HfReading, TheRotatedShareComesFromTheFileOrTheClass) {
  EXPECT_EQ(read_config(R"({"model_type": "llama"})").rotary_fraction, 1.0);
  EXPECT_EQ(read_config(R"({"model_type": "gpt_neox"})").rotary_fraction, 0.25);
  EXPECT_EQ(read_config(R"({"model_type": "gpt_neox", "rotary_pct": 1.0})").rotary_fraction, 1.0);
  EXPECT_EQ(read_config(R"({"model_type": "glm4_moe"})").rotary_fraction, 0.5);
  EXPECT_EQ(read_config(R"({"model_type": "phi3", "rope_parameters":
                            {"partial_rotary_factor": 0.75}})")
                .rotary_fraction,
            0.75);
  EXPECT_EQ(refused_config(R"({"model_type": "gpt_neox", "rotary_pct": 2.0})").where(),
            "config.json: rotary_pct");
}

TEST(HfReading, DropoutsAreReadUnderTheNamesOfEachFamily) {
  const ModelConfig gpt2 = read_config(
      R"({"model_type": "gpt2", "resid_pdrop": 0.2, "attn_pdrop": 0.0, "embd_pdrop": 0.3})");
  EXPECT_EQ(gpt2.dropout, 0.2);
  EXPECT_EQ(gpt2.attention_dropout, 0.0);
  EXPECT_EQ(gpt2.embedding_dropout, 0.3);
  const ModelConfig opt = read_config(R"({"model_type": "opt"})");
  EXPECT_EQ(opt.dropout, 0.1);
  EXPECT_EQ(opt.attention_dropout, 0.0);
  EXPECT_EQ(read_config(R"({"model_type": "llama", "attention_dropout": 0.05})").attention_dropout,
            0.05);
  EXPECT_EQ(refused_config(R"({"model_type": "gpt2", "attn_pdrop": -0.1})").where(),
            "config.json: attn_pdrop");
}

TEST(HfReading, TheLongestSequenceIsKept) {
  EXPECT_EQ(read_config(R"({"model_type": "gpt2"})").max_positions, 1024);
  EXPECT_EQ(
      read_config(R"({"model_type": "llama", "max_position_embeddings": 131072})").max_positions,
      131'072);
  EXPECT_EQ(read_config(R"({"model_type": "bloom", "n_embed": 64, "n_layer": 1, "n_head": 1})")
                .max_positions,
            0);
}

TEST(HfReading, SoftCapsAreTheClasssUnlessNull) {
  const ModelConfig gemma2 = read_config(R"({"model_type": "gemma2"})");
  EXPECT_EQ(gemma2.kinds[0].attention.score_softcap, 50);
  EXPECT_EQ(gemma2.logit_softcap, 30);
  const ModelConfig none = read_config(
      R"({"model_type": "gemma2", "attn_logit_softcapping": null, "final_logit_softcapping": null})");
  EXPECT_EQ(none.kinds[0].attention.score_softcap, 0);
  EXPECT_EQ(none.logit_softcap, 0);
}

TEST(HfReading, ExpertsThatAreLeftToTheClassAreNoted) {
  const ModelConfig mixtral =
      read_config(R"({"model_type": "mixtral", "num_local_experts": null})");
  EXPECT_TRUE(has_note(mixtral, "num_local_experts is absent: 8, the default of its class"));
  EXPECT_TRUE(has_note(mixtral, "num_experts_per_tok is absent: 2, the default of its class"));
  const ModelConfig deepseek = read_config(R"({"model_type": "deepseek_v3"})");
  EXPECT_TRUE(has_note(deepseek, "n_routed_experts is absent: 256, the default of its class"));
  EXPECT_TRUE(has_note(deepseek, "moe_intermediate_size is absent: 2048, the default"));
  EXPECT_TRUE(has_note(deepseek, "n_shared_experts is absent: 1, the default"));
  const ModelConfig qwen = read_config(R"({"model_type": "qwen3_moe"})");
  EXPECT_TRUE(has_note(qwen, "num_experts is absent: 128, the default"));
  const ModelConfig stated =
      read_config(R"({"model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 1})");
  EXPECT_FALSE(has_note(stated, "experts"));
}

}  // namespace
}  // namespace fourhold::model
