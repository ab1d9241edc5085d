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
  for (const TensorName name : {TensorName::k, TensorName::up, TensorName::hidden_states_mid}) {
    EXPECT_FALSE(alternate.keeps(name)) << to_string(name);
  }
  EXPECT_TRUE(alternate.keeps(TensorName::attention_out));
  // What ranks of tensor parallelism scatter stays, and the sum behind it is made of that.
  const Decided split =
      decided(config, "selective:norm,activation,alternate", {.tp = 2, .sp = true});
  EXPECT_TRUE(split.keeps(TensorName::o_out));
  EXPECT_FALSE(split.keeps(TensorName::hidden_states_mid));
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

// T = 64 tokens, h = 128, 8 heads and 4 key-value heads of 16, f = 256, 2 bytes an element:
// input 2 T h = 16,384; q, k and v 2 T (8 + 2 x 4) 16 = 32,768; what attention makes 2 T 128 and a
// log-sum-exp of 4 bytes per head, 18,432; the output projection's result 16,384; gate and up
// 4 T f = 65,536. Nothing in backward reads the down projection's result.
TEST(Recompute, PoliciesByNameKeepWhatMaxTextSaysAndNoMore) {
  model::ModelConfig config = dense_model({.kv_heads = 4});
  config.kinds[0].feed_forward.gated = true;
  const auto kept_bytes = [&config](const std::string& policy) {
    const Decided made = decided(config, policy);
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < made.decision.kept.size(); ++i) {
      const model::Tensor& tensor = made.block.operations.tensors[i];
      if (made.decision.kept[i] != 0) bytes += bytes_of(tensor.shape.elements(), tensor.dtype);
    }
    return bytes;
  };
  EXPECT_EQ(kept_bytes("full"), 16'384);
  EXPECT_EQ(kept_bytes("save_out_proj"), 16'384 + 16'384);
  EXPECT_EQ(kept_bytes("save_qkv_proj"), 16'384 + 32'768);
  EXPECT_EQ(kept_bytes("save_dot_except_mlp"), 16'384 + 32'768 + 16'384);
  EXPECT_EQ(kept_bytes("save_dot_except_mlpwi"), 16'384 + 32'768 + 16'384);
  EXPECT_EQ(kept_bytes("save_dot_with_context_except_mlp"), 16'384 + 32'768 + 16'384 + 18'432);
  EXPECT_EQ(kept_bytes("minimal"), 16'384 + 32'768 + 16'384 + 65'536);
  EXPECT_EQ(kept_bytes("minimal_with_context"), 16'384 + 32'768 + 16'384 + 65'536 + 18'432);
  EXPECT_EQ(kept_bytes("save:context,mlpwi"), 16'384 + 18'432 + 65'536);
}

// The head's block with a layer of multi-token prediction in it, less the head alone: T = 64,
// h = 128, f = 256, V = 1000, layer norms (two fp32 statistics per token).
TEST(Recompute, ALayerOfPredictionIsKeptOrMadeAgainLikeAnyOther) {
  const model::ModelConfig config = dense_model({});
  const auto kept_bytes = [&config](std::int64_t layers, const std::string& policy) {
    model::Switches switches;
    switches.prediction_layers = layers;
    const ShardedBlock block =
        shard(model::head_operations(config, {.micro_batch = 1, .seq = 64}, switches),
              {.padded_vocab = 1000});
    const RecomputeDecision decision = decide_recompute(block, recompute_from_string(policy));
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < decision.kept.size(); ++i) {
      const model::Tensor& tensor = block.operations.tensors[i];
      if (decision.kept[i] != 0) bytes += bytes_of(tensor.shape.elements(), tensor.dtype);
    }
    return bytes;
  };
  const std::int64_t row = 2 * 64 * 128;             // a tensor of T x h
  const std::int64_t statistics = 2 * 4 * 64;        // of one norm
  const std::int64_t loss = 4 * 64 * 1000 + 4 * 64;  // fp32 log-softmax and 32-bit targets
  // The ids; the embedded tokens; both norms' statistics; joined, 2 h wide; the layer: its input,
  // two norms, q, k, v, attention's result and log-sum-exp (8 heads), the middle, up and its
  // activation (2 h wide each); what the layer makes, its norm and the result of that.
  const std::int64_t layer =
      4 * 64 + row + 2 * statistics + 2 * row +
      (row + 2 * statistics + 2 * row + 3 * row + row + 4 * 64 * 8 + row + 2 * row + 2 * row) +
      row + statistics + row;
  EXPECT_EQ(kept_bytes(1, "none") - kept_bytes(0, "none"), layer + loss);
  EXPECT_EQ(kept_bytes(2, "none") - kept_bytes(1, "none"), layer + loss);
  // Made again, it keeps what goes in and what comes out.
  EXPECT_EQ(kept_bytes(1, "full") - kept_bytes(0, "full"), 4 * 64 + row + row + loss);
}

TEST(Recompute, GatheredInputsAreGatheredAgainUnderAnyPolicy) {
  const Decided none = decided(dense_model({}), "none", {.tp = 2, .sp = true});
  EXPECT_NE(none.segment(OpKind::enter_branch, 0), kNotRemade);
  EXPECT_TRUE(none.keeps(TensorName::norm1_out));  // the rank's own tokens
}

}  // namespace
}  // namespace fourhold::plan
