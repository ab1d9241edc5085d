#include "fourhold/plan/recompute.h"

#include <gtest/gtest.h>

#include "tests/unit/plan/small_models.h"

namespace fourhold::plan {
namespace {

using model::OpKind;
using model::TensorName;

struct Decided {
  ShardedBlock block;
  RecomputeDecision decision;

  // Kept, by the name of the tensor that owns the storage.
  [[nodiscard]] bool keeps(TensorName name) const {
    const auto& tensors = block.operations.tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].name == name && decision.kept[i] != 0) return true;
    }
    return false;
  }
  // The segment of the nth operation of a kind.
  [[nodiscard]] std::int16_t segment(OpKind kind, int nth = 0) const {
    const auto& operations = block.operations.operations;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      if (operations[i].kind == kind && nth-- == 0) return decision.segment[i];
    }
    return kNotRemade;
  }
};

Decided decided(const model::ModelConfig& config, const std::string& policy,
                const ShardingDegrees& degrees = {}) {
  ShardedBlock block =
      shard(model::layer_operations(config, 0, {.micro_batch = 1, .seq = 64}, {}), degrees);
  RecomputeDecision decision = decide_recompute(block, recompute_from_string(policy));
  return {std::move(block), std::move(decision)};
}

TEST(Recompute, WithoutAPolicyNothingRunsAgain) {
  const Decided none = decided(dense_model({}), "none");
  for (const std::int16_t segment : none.decision.segment) EXPECT_EQ(segment, kNotRemade);
  EXPECT_TRUE(none.keeps(TensorName::norm1_out));
  EXPECT_TRUE(none.keeps(TensorName::log_sum_exp));
}

TEST(Recompute, SelectiveDropsTheAttentionCoreButNotItsResult) {
  const Decided selective = decided(dense_model({}), "selective");
  EXPECT_FALSE(selective.keeps(TensorName::log_sum_exp));
  EXPECT_TRUE(selective.keeps(TensorName::attention_out));
  EXPECT_TRUE(selective.keeps(TensorName::q));
}

TEST(Recompute, FullKeepsTheInputOfTheLayerAlone) {
  const Decided full = decided(dense_model({}), "full");
  int kept = 0;
  for (const std::uint8_t one : full.decision.kept) kept += one;
  EXPECT_EQ(kept, 1);
  EXPECT_TRUE(full.keeps(TensorName::hidden_states));
}

// Without a norm before it, a branch of tensor-parallel ranks enters from the layer's input in
// place: that makes the input no result of this layer.
TEST(Recompute, NothingInALayerMakesItsInput) {
  model::ModelConfig config = dense_model({});
  config.kinds[0].placement = model::NormPlacement::post_branch;
  EXPECT_TRUE(decided(config, "full", {.tp = 2}).keeps(TensorName::hidden_states));
}

// q is rotated in the storage of its norm's result: who drops the one makes both again.
TEST(Recompute, WhatIsMadeInPlaceOfADroppedTensorRunsAgainWithIt) {
  model::ModelConfig config = dense_model({});
  config.kinds[0].attention.qk_norm = model::QkNorm::per_head;
  const Decided norms = decided(config, "selective:norm");
  EXPECT_FALSE(norms.keeps(TensorName::q_normed));
  EXPECT_NE(norms.segment(OpKind::rotary, 0), kNotRemade);
  EXPECT_EQ(norms.segment(OpKind::rotary, 0), norms.segment(OpKind::norm, 1));
  EXPECT_EQ(norms.segment(OpKind::rotary, 1), norms.segment(OpKind::norm, 2));
}

// Of the seven linears of a gated layer in their order, q, k, v, o, gate, up and down, the first,
// third, fifth and seventh keep their results: torchtitan's selective recomputation per operation.
TEST(Recompute, AlternateLinearsRunAgain) {
  model::ModelConfig config = dense_model({});
  config.kinds[0].feed_forward.gated = true;
  const Decided alternate = decided(config, "selective:norm,activation,alternate");
  for (const TensorName name : {TensorName::q, TensorName::v, TensorName::gate}) {
    EXPECT_TRUE(alternate.keeps(name)) << to_string(name);
  }
  EXPECT_FALSE(alternate.keeps(TensorName::k));
  EXPECT_FALSE(alternate.keeps(TensorName::up));
  const Decided all = decided(config, "selective:norm,activation");
  EXPECT_TRUE(all.keeps(TensorName::k));
  EXPECT_TRUE(all.keeps(TensorName::up));
}

// A feed-forward that runs again keeps its input alone; projections that do keep the norm's result.
TEST(Recompute, WholeBranchesRunAgain) {
  model::ModelConfig config = dense_model({});
  config.kinds[0].feed_forward.gated = true;
  const Decided mlp = decided(config, "selective:mlp");
  for (const TensorName name : {TensorName::gate, TensorName::up, TensorName::product}) {
    EXPECT_FALSE(mlp.keeps(name)) << to_string(name);
  }
  for (const TensorName name : {TensorName::norm2_out, TensorName::q, TensorName::attention_out}) {
    EXPECT_TRUE(mlp.keeps(name)) << to_string(name);
  }
  // q, k, v, o, gate and up: gate, up and their product run again together, down does not.
  EXPECT_EQ(mlp.segment(OpKind::linear, 3), kNotRemade);
  EXPECT_NE(mlp.segment(OpKind::linear, 4), kNotRemade);
  EXPECT_EQ(mlp.segment(OpKind::linear, 4), mlp.segment(OpKind::linear, 5));
  EXPECT_EQ(mlp.segment(OpKind::linear, 4), mlp.segment(OpKind::gated_activation));
  EXPECT_EQ(mlp.segment(OpKind::linear, 6), kNotRemade);

  const Decided qkv = decided(config, "selective:qkv");
  for (const TensorName name : {TensorName::q, TensorName::k, TensorName::v}) {
    EXPECT_FALSE(qkv.keeps(name)) << to_string(name);
  }
  for (const TensorName name :
       {TensorName::norm1_out, TensorName::attention_out, TensorName::gate}) {
    EXPECT_TRUE(qkv.keeps(name)) << to_string(name);
  }
}

TEST(Recompute, GatheredInputsAreGatheredAgainUnderAnyPolicy) {
  const Decided none = decided(dense_model({}), "none", {.tp = 2, .sp = true});
  EXPECT_NE(none.segment(OpKind::enter_branch, 0), kNotRemade);
  EXPECT_TRUE(none.keeps(TensorName::norm1_out));  // the rank's own tokens
}

}  // namespace
}  // namespace fourhold::plan
