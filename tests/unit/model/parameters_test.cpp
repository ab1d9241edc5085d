#include "fourhold/model/parameters.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fourhold/base/error.h"
#include "tests/unit/model/read_config.h"

namespace fourhold::model {
namespace {

// hidden 8, heads 4, KV heads 2, head_dim 3, ffn 16, vocab 10.
ModelConfig tiny() {
  ModelConfig config;
  config.vocab = 10;
  config.hidden = 8;
  config.embedding_width = 8;
  LayerKind layer;
  layer.attention.heads = 4;
  layer.attention.kv_heads = 2;
  layer.attention.head_dim = 3;
  layer.attention.value_head_dim = 3;
  layer.feed_forward.width = 16;
  config.kinds = {layer};
  config.layers = {0};
  return config;
}

const Parameter* find(const std::vector<Parameter>& parameters, TensorName name) {
  for (const Parameter& parameter : parameters) {
    if (parameter.name == name) return &parameter;
  }
  return nullptr;
}

std::vector<std::string> names(const std::vector<Parameter>& parameters) {
  std::vector<std::string> out;
  for (const Parameter& parameter : parameters) out.emplace_back(to_string(parameter.name));
  return out;
}

TEST(Parameters, APlainLayerHasTwoNormsFourProjectionsAndTwoMatrices) {
  const ModelConfig config = tiny();
  EXPECT_EQ(names(layer_parameters(config, config.kinds[0])),
            (std::vector<std::string>{"norm1_weight", "q_weight", "k_weight", "v_weight",
                                      "o_weight", "norm2_weight", "up_weight", "down_weight"}));
  // 8 + 12*8 + 2 * 6*8 + 8*12 + 8 + 2 * 16*8
  std::int64_t elements = 0;
  for (const Parameter& p : layer_parameters(config, config.kinds[0])) elements += p.elements();
  EXPECT_EQ(elements, 8 + 96 + 96 + 96 + 8 + 256);
}

TEST(Parameters, DimensionsSayWhatTheyCount) {
  const ModelConfig config = tiny();
  const auto layer = layer_parameters(config, config.kinds[0]);
  EXPECT_EQ(find(layer, TensorName::q_weight)->shape,
            (Shape{{Dim::heads, 4}, {Dim::head_dim, 3}, {Dim::hidden, 8}}));
  EXPECT_EQ(find(layer, TensorName::k_weight)->shape,
            (Shape{{Dim::kv_heads, 2}, {Dim::head_dim, 3}, {Dim::hidden, 8}}));
  EXPECT_EQ(find(layer, TensorName::o_weight)->shape,
            (Shape{{Dim::hidden, 8}, {Dim::heads, 4}, {Dim::head_dim, 3}}));
  EXPECT_EQ(find(layer, TensorName::up_weight)->shape, (Shape{{Dim::ffn, 16}, {Dim::hidden, 8}}));
  EXPECT_EQ(find(layer, TensorName::down_weight)->shape, (Shape{{Dim::hidden, 8}, {Dim::ffn, 16}}));
}

TEST(Parameters, BiasesFollowTheOutputOfTheirMatrix) {
  ModelConfig config = tiny();
  LayerKind& layer = config.kinds[0];
  layer.attention.qkv_bias = true;
  layer.attention.output_bias = true;
  layer.feed_forward.bias = true;
  layer.feed_forward.gated = true;
  const auto parameters = layer_parameters(config, layer);
  EXPECT_EQ(find(parameters, TensorName::q_bias)->shape,
            (Shape{{Dim::heads, 4}, {Dim::head_dim, 3}}));
  EXPECT_EQ(find(parameters, TensorName::v_bias)->shape,
            (Shape{{Dim::kv_heads, 2}, {Dim::head_dim, 3}}));
  EXPECT_EQ(find(parameters, TensorName::o_bias)->shape, (Shape{{Dim::hidden, 8}}));
  EXPECT_EQ(find(parameters, TensorName::gate_bias)->shape, (Shape{{Dim::ffn, 16}}));
  EXPECT_EQ(find(parameters, TensorName::down_bias)->shape, (Shape{{Dim::hidden, 8}}));
  EXPECT_EQ(find(parameters, TensorName::down_bias)->role, ParameterRole::vector);
}

TEST(Parameters, NormsStandWhereThePlacementPutsThem) {
  const auto of = [](NormPlacement placement) {
    ModelConfig config = tiny();
    config.kinds[0].placement = placement;
    std::vector<std::string> norms;
    for (const std::string& name : names(layer_parameters(config, config.kinds[0]))) {
      if (name.find("norm") != std::string::npos) norms.push_back(name);
    }
    return norms;
  };
  const std::vector<std::string> before{"norm1_weight", "norm2_weight"};
  const std::vector<std::string> after{"attention_post_norm_weight",
                                       "feed_forward_post_norm_weight"};
  EXPECT_EQ(of(NormPlacement::pre), before);
  EXPECT_EQ(of(NormPlacement::parallel_two_norms), before);
  EXPECT_EQ(of(NormPlacement::parallel_one_norm), std::vector<std::string>{"norm1_weight"});
  EXPECT_EQ(of(NormPlacement::post_branch), after);
  EXPECT_EQ(of(NormPlacement::post_add), after);
  EXPECT_EQ(of(NormPlacement::sandwich).size(), 4U);
}

TEST(Parameters, QkNormsArePerHeadOrOverTheFullWidth) {
  ModelConfig config = tiny();
  config.kinds[0].attention.qk_norm = QkNorm::per_head;
  EXPECT_EQ(find(layer_parameters(config, config.kinds[0]), TensorName::q_norm_weight)->elements(),
            3);
  config.kinds[0].attention.qk_norm = QkNorm::full_width;
  const auto full = layer_parameters(config, config.kinds[0]);
  EXPECT_EQ(find(full, TensorName::q_norm_weight)->elements(), 12);
  EXPECT_EQ(find(full, TensorName::k_norm_weight)->elements(), 6);
  config.kinds[0].attention.qk_norm = QkNorm::without_weight;
  EXPECT_EQ(find(layer_parameters(config, config.kinds[0]), TensorName::q_norm_weight), nullptr);
}

TEST(Parameters, LatentAttentionHasDownAndUpProjections) {
  ModelConfig config = tiny();
  Attention& attention = config.kinds[0].attention;
  attention.kind = AttentionKind::latent;
  attention.kv_heads = 4;
  attention.head_dim = 5;  // 3 + 2 rotated
  attention.rope_head_dim = 2;
  attention.value_head_dim = 6;
  attention.kv_lora_rank = 7;
  const auto plain_q = layer_parameters(config, config.kinds[0]);
  EXPECT_EQ(find(plain_q, TensorName::q_weight)->elements(), 4 * 5 * 8);
  EXPECT_EQ(find(plain_q, TensorName::kv_down_weight)->elements(), (7 + 2) * 8);
  EXPECT_EQ(find(plain_q, TensorName::kv_latent_norm_weight)->elements(), 7);
  EXPECT_EQ(find(plain_q, TensorName::kv_up_weight)->elements(), 4 * (3 + 6) * 7);
  EXPECT_EQ(find(plain_q, TensorName::o_weight)->elements(), 8 * 4 * 6);
  attention.q_lora_rank = 9;
  const auto low_rank_q = layer_parameters(config, config.kinds[0]);
  EXPECT_EQ(find(low_rank_q, TensorName::q_weight), nullptr);
  EXPECT_EQ(find(low_rank_q, TensorName::q_down_weight)->elements(), 9 * 8);
  EXPECT_EQ(find(low_rank_q, TensorName::q_up_weight)->elements(), 4 * 5 * 9);
}

TEST(Parameters, OnlyTheActiveExpertsOfAMixtureAreActive) {
  ModelConfig config = tiny();
  FeedForward& mixture = config.kinds[0].feed_forward;
  mixture.kind = FeedForwardKind::experts;
  mixture.gated = true;
  mixture.experts = 6;
  mixture.active_experts = 2;
  mixture.expert_width = 5;
  mixture.shared_width = 7;
  const ParameterCounts counts = count_parameters(config);
  const std::int64_t expert = 3 * 8 * 5;
  EXPECT_EQ(counts.total - counts.active, 4 * expert);
  const auto parameters = layer_parameters(config, config.kinds[0]);
  EXPECT_EQ(find(parameters, TensorName::router_weight)->shape,
            (Shape{{Dim::other, 6}, {Dim::hidden, 8}}));
  EXPECT_EQ(find(parameters, TensorName::expert_up_weight)->shape,
            (Shape{{Dim::experts, 6}, {Dim::expert_ffn, 5}, {Dim::hidden, 8}}));
  EXPECT_EQ(find(parameters, TensorName::shared_down_weight)->shape,
            (Shape{{Dim::hidden, 8}, {Dim::ffn, 7}}));
}

TEST(Parameters, AnAbsentBranchTakesItsNormWithIt) {
  ModelConfig config = tiny();
  config.kinds[0].attention.kind = AttentionKind::none;
  EXPECT_EQ(names(layer_parameters(config, config.kinds[0])),
            (std::vector<std::string>{"norm2_weight", "up_weight", "down_weight"}));
  config.kinds[0].feed_forward.kind = FeedForwardKind::linear;
  EXPECT_EQ(names(layer_parameters(config, config.kinds[0])),
            (std::vector<std::string>{"norm2_weight", "feed_forward_linear_weight"}));
}

TEST(Parameters, ATiedHeadHasNoWeightOfItsOwn) {
  ModelConfig config = tiny();
  EXPECT_NE(find(head_parameters(config), TensorName::head_weight), nullptr);
  const std::int64_t untied = count_parameters(config).total;
  config.tied = true;
  EXPECT_EQ(find(head_parameters(config), TensorName::head_weight), nullptr);
  EXPECT_EQ(count_parameters(config).total, untied - 10 * 8);
}

TEST(Parameters, ANarrowerEmbeddingIsProjectedOnBothSides) {
  ModelConfig config = tiny();
  config.embedding_width = 4;
  EXPECT_EQ(find(embedding_parameters(config), TensorName::embedding_projection)->elements(), 32);
  EXPECT_EQ(find(head_parameters(config), TensorName::head_projection)->elements(), 32);
  EXPECT_EQ(find(head_parameters(config), TensorName::head_weight)->elements(), 40);
}

TEST(Parameters, CountsAddUpOverKindsAndLayers) {
  ModelConfig config = tiny();
  LayerKind wide = config.kinds[0];
  wide.feed_forward.width = 32;
  config.kinds.push_back(wide);
  config.layers = {0, 1, 0};
  // Layer 560 (as above), wide 560 + 256; embedding and head 80 each; final norm 8.
  const ParameterCounts counts = count_parameters(config);
  EXPECT_EQ(counts.total, 3 * 560 + 256 + 80 + 80 + 8);
  EXPECT_EQ(counts.active, counts.total);
  EXPECT_EQ(counts.embedding, 80);
  EXPECT_EQ(counts.active_without_embedding(), counts.total - 80);
}

TEST(Parameters, SizesBeyond64BitsAreRefused) {
  ModelConfig config = tiny();
  config.vocab = 1LL << 61;
  EXPECT_THROW(static_cast<void>(count_parameters(config)), Error);
}

// github.com/paiml/entrenar issue 262: head_dim of Qwen3-4B is stated, not hidden / heads.
TEST(Parameters, AStatedHeadDimDecidesTheProjections) {
  const ModelConfig config = read_config(
      R"({"model_type": "qwen3", "hidden_size": 2560, "num_attention_heads": 32,
          "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 9728,
          "num_hidden_layers": 36, "vocab_size": 151936, "tie_word_embeddings": true})");
  const auto layer = layer_parameters(config, config.kinds[0]);
  EXPECT_EQ(find(layer, TensorName::q_weight)->shape,
            (Shape{{Dim::heads, 32}, {Dim::head_dim, 128}, {Dim::hidden, 2560}}));
  EXPECT_EQ(find(layer, TensorName::o_weight)->shape,
            (Shape{{Dim::hidden, 2560}, {Dim::heads, 32}, {Dim::head_dim, 128}}));
  EXPECT_EQ(total(config), 4'022'468'096);
}

// The files of DeepSeek-V3 hold 684,531,386,000 numbers: 671,026,419,200 of the language model,
// 41,540,496 scales, two tables of 129,280 x 7,168 a second time, and the layer of multi-token
// prediction: 11,610,068,224.
TEST(Parameters, ALayerOfPredictionHasTheParametersThatDeepSeekPublishes) {
  const ModelConfig config = read_config(R"({"model_type": "deepseek_v3"})");
  std::int64_t elements = 0;
  for (const Parameter& parameter : prediction_parameters(config, config.kinds.back())) {
    elements += parameter.elements();
  }
  EXPECT_EQ(elements, 11'610'068'224);
}

}  // namespace
}  // namespace fourhold::model
