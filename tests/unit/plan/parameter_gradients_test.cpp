#include "fourhold/plan/parameter_gradients.h"

#include <gtest/gtest.h>

#include <map>

#include "fourhold/plan/profile.h"
#include "tests/unit/plan/small_models.h"

namespace fourhold::plan {
namespace {

// The head's parameters: whether forwards write their gradients.
std::map<model::TensorName, bool> of_head(std::int64_t loss_chunk) {
  const model::ModelConfig config = dense_model({.heads = 8, .kv_heads = 2});
  Plan plan;
  plan.seq = 64;
  plan.loss_chunk = loss_chunk;
  plan.layers_per_stage = canonical_layout(config.layer_count(), 1);
  const ProgramBlocks blocks = lower_blocks(config, plan, load_profile("standard"));
  const ProgramBlock& head = blocks.blocks[static_cast<std::size_t>(blocks.head)];
  std::map<model::TensorName, bool> written;
  for (std::size_t p = 0; p < head.sharded.parameters.size(); ++p) {
    written[head.sharded.parameters[p].use.parameter.name] = written_in_forward(head, p);
  }
  return written;
}

// A chunked loss accumulates the head's gradient in its forward, and no norm's.
TEST(ParameterGradients, AChunkedLossWritesTheHeadsInItsForward) {
  int whole = 0;
  for (const auto& [name, written] : of_head(0)) whole += written ? 1 : 0;
  EXPECT_EQ(whole, 0);
  int chunked = 0;
  for (const auto& [name, written] : of_head(16)) chunked += written ? 1 : 0;
  EXPECT_EQ(chunked, 1);
}

// k and v, weight by weight, of a layer with two kv heads; q has eight heads and no kv head.
TEST(ParameterGradients, KvHeadsAreThoseOfTheWholeParameter) {
  const model::ModelConfig config = dense_model({.heads = 8, .kv_heads = 2});
  Plan plan;
  plan.seq = 64;
  plan.tp = 4;
  plan.layers_per_stage = canonical_layout(config.layer_count(), 1);
  const ProgramBlocks blocks = lower_blocks(config, plan, load_profile("standard"));
  int two = 0;
  int one = 0;
  const auto layer = static_cast<std::size_t>(blocks.layer_of_kind.front());
  for (const LocalParameter& parameter : blocks.blocks[layer].sharded.parameters) {
    const std::int64_t heads = kv_heads_of(parameter);
    EXPECT_TRUE(heads == 1 || heads == 2);
    (heads == 2 ? two : one) += 1;
  }
  EXPECT_EQ(two, 2);
  EXPECT_GT(one, 0);
}

}  // namespace
}  // namespace fourhold::plan
