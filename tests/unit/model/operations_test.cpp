#include "fourhold/model/operations.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace fourhold::model {
namespace {

constexpr BatchSizes kSizes{.micro_batch = 2, .seq = 16};

ModelConfig small_model() {
  LayerKind kind;
  kind.norm = NormKind::rms_norm;
  kind.attention.heads = 4;
  kind.attention.kv_heads = 2;
  kind.attention.head_dim = 8;
  kind.attention.value_head_dim = 8;
  kind.feed_forward.gated = true;
  kind.feed_forward.width = 64;
  ModelConfig config;
  config.vocab = 100;
  config.hidden = 32;
  config.embedding_width = 32;
  config.norm = NormKind::rms_norm;
  config.kinds = {kind};
  config.layers = {0, 0};
  return config;
}

const Operation& first(const BlockOperations& block, OpKind kind, int nth = 0) {
  const auto& operations = block.operations;
  return *std::find_if(operations.begin(), operations.end(),
                       [&](const Operation& op) { return op.kind == kind && nth-- == 0; });
}
std::int64_t count(const BlockOperations& block, OpKind kind) {
  return std::count_if(block.operations.begin(), block.operations.end(),
                       [kind](const Operation& op) { return op.kind == kind; });
}
const Tensor& tensor(const BlockOperations& block, TensorId id) {
  return block.tensors[static_cast<std::size_t>(id)];
}

TEST(Operations, ANormWithoutABiasHasItsWeightAlone) {
  ModelConfig config = small_model();
  config.kinds[0].attention.qk_norm = QkNorm::per_head;
  const BlockOperations layer = layer_operations(config, 0, kSizes, {});
  EXPECT_EQ(count(layer, OpKind::norm), 4);  // two of the layer, of q and of k
  for (const Operation& op : layer.operations) {
    if (op.kind != OpKind::norm) continue;
    EXPECT_EQ(op.parameters.size(), 1);
  }
}

TEST(Operations, SharedExpertsHaveNoBias) {
  ModelConfig config = small_model();
  FeedForward& ffn = config.kinds[0].feed_forward;
  ffn = {.kind = FeedForwardKind::experts,
         .gated = true,
         .experts = 4,
         .active_experts = 2,
         .expert_width = 16,
         .shared_width = 16};
  EXPECT_EQ(count(layer_operations(config, 0, kSizes, {}), OpKind::add_bias), 0);
}

TEST(Operations, ARouterKeepsItsProbabilitiesAndItsLogitsWhereAsked) {
  ModelConfig config = small_model();
  config.kinds[0].feed_forward = {.kind = FeedForwardKind::experts,
                                  .gated = true,
                                  .experts = 4,
                                  .active_experts = 2,
                                  .expert_width = 16};
  const auto saved_bytes = [&](const Switches& switches) {
    const BlockOperations layer = layer_operations(config, 0, kSizes, switches);
    std::int64_t bytes = 0;
    for (const TensorId id : first(layer, OpKind::router).saved) {
      bytes += bytes_of(tensor(layer, id).shape.elements(), tensor(layer, id).dtype);
    }
    return bytes;
  };
  // T = 2 x 16 tokens and E = 4 experts, in fp32: 4 T E, or both 8 T E.
  EXPECT_EQ(saved_bytes({}), 4 * 32 * 4);
  EXPECT_EQ(saved_bytes({.keep_router_logits = true}), 8 * 32 * 4);
}

TEST(Operations, EachKindOfDropoutHasItsOwnProbability) {
  Switches switches;
  switches.attention = AttentionSaving::unfused;
  const auto dropouts = [&](double residual, double attention, double embedding) {
    ModelConfig config = small_model();
    config.dropout = residual;
    config.attention_dropout = attention;
    config.embedding_dropout = embedding;
    return std::make_pair(count(layer_operations(config, 0, kSizes, switches), OpKind::dropout),
                          count(embedding_operations(config, kSizes, switches), OpKind::dropout));
  };
  EXPECT_EQ(dropouts(0.1, 0, 0), std::make_pair(std::int64_t{2}, std::int64_t{0}));
  EXPECT_EQ(dropouts(0, 0.1, 0), std::make_pair(std::int64_t{1}, std::int64_t{0}));
  EXPECT_EQ(dropouts(0, 0, 0.1), std::make_pair(std::int64_t{0}, std::int64_t{1}));
}

TEST(Operations, AGatedActivationNeverOverwritesItsInputs) {
  Switches switches;
  switches.adapters = Adapters::lora;
  switches.lora_rank = 4;
  const BlockOperations layer = layer_operations(small_model(), 0, kSizes, switches);
  const Operation& op = first(layer, OpKind::gated_activation);
  EXPECT_EQ(tensor(layer, op.outputs[0]).alias_of, kNoTensor);
}

// The softcap's backward needs its result; an in-place loss overwrites the logits it is given.
TEST(Operations, ALossInPlaceSparesTheResultOfASoftcap) {
  Switches switches;
  switches.loss = LossSaving::in_place;
  ModelConfig config = small_model();
  const BlockOperations plain = head_operations(config, kSizes, switches);
  const Operation& loss = first(plain, OpKind::cross_entropy);
  EXPECT_EQ(tensor(plain, loss.outputs[1]).alias_of, loss.inputs[0]);
  config.logit_softcap = 30;
  const BlockOperations capped = head_operations(config, kSizes, switches);
  EXPECT_EQ(tensor(capped, first(capped, OpKind::cross_entropy).outputs[1]).alias_of, kNoTensor);
  // With the logits cast to fp32 first, it is the copy that is overwritten.
  switches.loss = LossSaving::vocab_parallel;
  const BlockOperations cast = head_operations(config, kSizes, switches);
  const Operation& wide = first(cast, OpKind::cross_entropy);
  EXPECT_EQ(tensor(cast, wide.outputs[1]).alias_of, wide.inputs[0]);
}

// 2 x 16 tokens of 100 logits: 2 bytes of each are kept, and 4 bytes of each row; backward has an
// fp32 copy beside the 16-bit gradient.
TEST(Operations, ACompiledLossKeepsThe16BitLogits) {
  Switches switches;
  switches.loss = LossSaving::compiled;
  const BlockOperations head = head_operations(small_model(), kSizes, switches);
  const Operation& loss = first(head, OpKind::cross_entropy);
  std::int64_t saved = 0;
  for (const TensorId id : loss.saved) {
    const Tensor& one = tensor(head, id);
    if (one.name != TensorName::targets) saved += bytes_of(one.shape.elements(), one.dtype);
  }
  EXPECT_EQ(saved, 2 * 32 * 100 + 4 * 32);
  ASSERT_EQ(loss.backward_transients.size(), 1);
  EXPECT_EQ(loss.backward_transients[0].shape.elements(), 32 * 100);
  EXPECT_EQ(loss.backward_transients[0].dtype, DType::fp32);
  EXPECT_EQ(count(head, OpKind::cast), 0);
}

// Backward has zeros and a sum of the logits' size beside the log-softmax and the gradient.
TEST(Operations, AnEagerLossOverRanksHasTwoTensorsMore) {
  Switches switches;
  switches.loss = LossSaving::eager_parallel;
  const BlockOperations head = head_operations(small_model(), kSizes, switches);
  const Operation& loss = first(head, OpKind::cross_entropy);
  ASSERT_EQ(loss.backward_transients.size(), 2);
  for (const Transient& one : loss.backward_transients) {
    EXPECT_EQ(bytes_of(one.shape.elements(), one.dtype), 4 * 32 * 100);
  }
}

// The last linear reads gate and up's product; what it makes is kept beside that.
TEST(Operations, TheLastLinearsResultIsKeptWhereAPolicyNamesIt) {
  const auto keeps_result = [](bool keep) {
    Switches switches;
    switches.keep_down_product = keep;
    const BlockOperations layer = layer_operations(small_model(), 0, kSizes, switches);
    const auto& operations = layer.operations;
    return std::any_of(operations.begin(), operations.end(), [&](const Operation& op) {
      return op.kind == OpKind::linear && op.saved.contains(op.outputs[0]) &&
             tensor(layer, op.outputs[0]).name == TensorName::down_out;
    });
  };
  EXPECT_FALSE(keeps_result(false));
  EXPECT_TRUE(keeps_result(true));
}

TEST(Operations, ANormAfterTheSumHasTheWeightsOfPostNorms) {
  ModelConfig config = small_model();
  config.kinds[0].placement = NormPlacement::post_add;
  const BlockOperations layer = layer_operations(config, 0, kSizes, {});
  ASSERT_EQ(count(layer, OpKind::norm), 2);
  for (int i = 0; i < 2; ++i) {
    const Operation& op = first(layer, OpKind::norm, i);
    ASSERT_EQ(op.parameters.size(), 1);
    EXPECT_EQ(layer.parameters[static_cast<std::size_t>(op.parameters[0])].parameter.name,
              i == 0 ? TensorName::attention_post_norm_weight
                     : TensorName::feed_forward_post_norm_weight);
  }
}

}  // namespace
}  // namespace fourhold::model
