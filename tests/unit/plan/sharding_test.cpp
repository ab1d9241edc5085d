#include "fourhold/plan/sharding.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/unit/plan/small_models.h"

namespace fourhold::plan {
namespace {

using model::Dim;
using model::Region;
using model::TensorName;

ShardedBlock sharded_layer(const model::ModelConfig& config, std::int32_t kind,
                           const ShardingDegrees& degrees, const model::Switches& switches = {}) {
  return shard(model::layer_operations(config, kind, {.micro_batch = 2, .seq = 64}, switches),
               degrees);
}

const LocalParameter& parameter(const ShardedBlock& block, TensorName name) {
  return *std::find_if(
      block.parameters.begin(), block.parameters.end(),
      [name](const LocalParameter& each) { return each.use.parameter.name == name; });
}

std::int64_t count(const ShardedBlock& block, Collective kind) {
  return std::count_if(block.collectives.begin(), block.collectives.end(),
                       [kind](const OperationCollective& each) { return each.kind == kind; });
}

TEST(Sharding, SizesAreDividedByWhatTheyCount) {
  const ShardingDegrees degrees{.tp = 4, .sp = true, .cp = 2, .ep = 2, .padded_vocab = 1024};
  EXPECT_EQ(local_extent({Dim::tokens, 128}, Region::inner, degrees).size, 64);   // / cp
  EXPECT_EQ(local_extent({Dim::tokens, 128}, Region::stream, degrees).size, 16);  // / cp tp
  EXPECT_EQ(local_extent({Dim::heads, 8}, Region::inner, degrees).size, 2);
  EXPECT_EQ(local_extent({Dim::kv_heads, 2}, Region::inner, degrees).size, 1);  // replicated
  EXPECT_EQ(local_extent({Dim::vocab, 1000}, Region::inner, degrees).size, 256);
  EXPECT_EQ(local_extent({Dim::experts, 8}, Region::inner, degrees).size, 4);
  EXPECT_EQ(local_extent({Dim::hidden, 128}, Region::inner, degrees).size, 128);
}

TEST(Sharding, DegreesOfOneInsertNothing) {
  const ShardedBlock block = sharded_layer(dense_model({}), 0, {});
  EXPECT_EQ(count(block, Collective::none), static_cast<std::int64_t>(block.collectives.size()));
}

TEST(Sharding, TensorParallelInsertsOneBorderOnEachSideOfABranch) {
  const ShardedBlock plain = sharded_layer(dense_model({}), 0, {.tp = 2});
  EXPECT_EQ(count(plain, Collective::copy), 2);  // attention and feed-forward
  EXPECT_EQ(count(plain, Collective::all_reduce), 2);
  const ShardedBlock sequence = sharded_layer(dense_model({}), 0, {.tp = 2, .sp = true});
  EXPECT_EQ(count(sequence, Collective::all_gather), 2);
  EXPECT_EQ(count(sequence, Collective::reduce_scatter), 2);
}

TEST(Sharding, BranchesThatReadOneTensorShareOneBorder) {
  model::ModelConfig config = dense_model({});
  config.kinds[0].placement = model::NormPlacement::parallel_one_norm;
  const ShardedBlock block = sharded_layer(config, 0, {.tp = 2, .sp = true});
  EXPECT_EQ(count(block, Collective::all_gather), 1);
  EXPECT_EQ(count(block, Collective::reduce_scatter), 2);
}

// A model may mix layers with one kv head and layers with more of them.
TEST(Sharding, KvHeadsAreSplitOrReplicatedLayerByLayer) {
  model::ModelConfig config = dense_model({.heads = 8, .kv_heads = 8});
  config.kinds.push_back(config.kinds[0]);
  config.kinds[1].attention.kv_heads = 1;
  const ShardingDegrees degrees{.tp = 2};
  const ShardedBlock many = sharded_layer(config, 0, degrees);
  EXPECT_FALSE(parameter(many, TensorName::k_weight).gradient_sum.has_value());
  const ShardedBlock one = sharded_layer(config, 1, degrees);
  EXPECT_EQ(parameter(one, TensorName::k_weight).gradient_sum, Axis::kv_replicas);
  EXPECT_FALSE(parameter(one, TensorName::q_weight).gradient_sum.has_value());
}

TEST(Sharding, NormsSumTheirGradientsOnlyUnderSequenceParallelism) {
  const ShardedBlock plain = sharded_layer(dense_model({}), 0, {.tp = 2});
  EXPECT_FALSE(parameter(plain, TensorName::norm1_weight).gradient_sum.has_value());
  const ShardedBlock sequence = sharded_layer(dense_model({}), 0, {.tp = 2, .sp = true});
  EXPECT_EQ(parameter(sequence, TensorName::norm1_weight).gradient_sum, Axis::tp);
}

TEST(Sharding, UnfusedAttentionOverContextRanksIsRefused) {
  model::Switches switches;
  switches.attention = model::AttentionSaving::unfused;
  const Fault fault =
      fault_of([&] { (void)sharded_layer(dense_model({}), 0, {.cp = 2}, switches); });
  EXPECT_EQ(fault.where, "cp");
  EXPECT_TRUE(contains(fault.hint, "flash")) << fault.hint;
}

}  // namespace
}  // namespace fourhold::plan
