#include "fourhold/model/checkpoint_rules.h"

#include <vector>

#include <gtest/gtest.h>

namespace fourhold::model {
namespace {

StoredTensor tensor(const char* name, std::vector<std::int64_t> shape = {2},
                    StoredType type = StoredType::bf16) {
  StoredTensor out;
  out.name = name;
  out.type = type;
  out.elements = 1;
  for (const std::int64_t size : shape) out.elements *= size;
  out.shape = std::move(shape);
  return out;
}

TEST(CheckpointRules, AMaskIsSquareAndOfRankFour) {
  const std::vector<StoredTensor> all{tensor("h.0.attn.bias", {1, 1, 4, 4}),
                                      tensor("gpt_neox.layers.0.attention.bias", {1, 1, 4, 4}),
                                      tensor("h.1.attn.bias", {1, 1, 4, 5})};
  const StoredKinds kinds(all);
  EXPECT_EQ(kinds.of(all[0]), StoredKind::causal_mask);
  EXPECT_EQ(kinds.of(all[1]), StoredKind::causal_mask);
  EXPECT_EQ(kinds.of(all[2]), StoredKind::parameter);
}

TEST(CheckpointRules, APredictionLayerIsFoundByItsJoiningMatrix) {
  const std::vector<StoredTensor> all{
      tensor("model.layers.61.eh_proj.weight"), tensor("model.layers.61.mlp.up_proj.weight"),
      tensor("model.layers.6.mlp.up_proj.weight"), tensor("model.layers.611.mlp.up_proj.weight")};
  const StoredKinds kinds(all);
  EXPECT_EQ(kinds.of(all[0]), StoredKind::prediction_layer);
  EXPECT_EQ(kinds.of(all[1]), StoredKind::prediction_layer);
  EXPECT_EQ(kinds.of(all[2]), StoredKind::parameter);
  EXPECT_EQ(kinds.of(all[3]), StoredKind::parameter);
}

TEST(CheckpointRules, AShardOfNothingButAPredictionLayerIsCounted) {
  const std::vector<StoredTensor> all{tensor("model.layers.61.eh_proj.weight")};
  EXPECT_EQ(StoredKinds(all).of(all[0]), StoredKind::parameter);
}

TEST(CheckpointRules, TheEmbeddingOfAPairIsTheModelsOwn) {
  const std::vector<StoredTensor> all{tensor("model.layers.61.embed_tokens.weight", {4, 2}),
                                      tensor("lm_head.weight", {4, 2}),
                                      tensor("model.embed_tokens.weight", {4, 2})};
  const TiedPair pair = find_tied_pair(all);
  ASSERT_NE(pair.embedding, nullptr);
  EXPECT_EQ(pair.embedding->name, "model.embed_tokens.weight");
  EXPECT_EQ(pair.head->name, "lm_head.weight");
}

TEST(CheckpointRules, FamiliesSpellTheirTablesDifferently) {
  const std::vector<StoredTensor> neox{tensor("gpt_neox.embed_in.weight", {4, 2}),
                                       tensor("embed_out.weight", {4, 2})};
  EXPECT_NE(find_tied_pair(neox).head, nullptr);
  const std::vector<StoredTensor> alone{tensor("model.embed_tokens.weight", {4, 2})};
  EXPECT_EQ(find_tied_pair(alone).head, nullptr);
}

}  // namespace
}  // namespace fourhold::model
