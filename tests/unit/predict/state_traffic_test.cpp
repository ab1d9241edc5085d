#include "fourhold/predict/state_traffic.h"

#include <gtest/gtest.h>

#include "fourhold/base/error.h"
#include "small_plans.h"

namespace fourhold::predict {
namespace {

GroupLinks group(std::int64_t ranks) {
  GroupLinks links;
  links.topology = {ranks, ranks, 1};
  links.intra = {"inside", 50, 0, 1, 0, 0};  // 50 bytes per second, nothing to start
  return links;
}

// 1000 trained parameters in one block: 2 bytes each travel, 12 of state. 8 ranks share them.
StateTrafficInput thousand(int zero) {
  StateTrafficInput input;
  input.parameters.dense = {
      .trained = 1000, .weight_bytes = 2000, .trained_weight_bytes = 2000, .state_bytes = 12000};
  input.parameters.gathered_bytes = 4000;  // a layer's: twice
  input.parameters.blocks = 1;
  input.zero = zero;
  input.micro_batches = 3;
  input.profile.message_bytes = 0;
  input.rates.memory_bytes_per_second = 10;
  input.rates.update_bytes_per_second = 10;
  input.host_link = {"PCIe", 100, 0, 1, 0, 0};
  return input;
}
// `groups` of shards over eight ranks.
StateLinks links_of_eight(std::int64_t groups = 1) {
  return {group(8 / groups), group(8 / groups), group(1),     group(1),
          group(1),          group(groups),     group(groups)};
}

TEST(StateTraffic, FollowsTheZeroStage) {
  // One pass over 2000 bytes is 1750 on the wire, 35 s.
  const StateTraffic zero0 = state_traffic(thousand(0), links_of_eight());
  EXPECT_DOUBLE_EQ(zero0.per_step, 70);
  const StateTraffic zero1 = state_traffic(thousand(1), links_of_eight());
  EXPECT_DOUBLE_EQ(zero1.per_step, 70);
  EXPECT_EQ(zero1.reduce, 0);
  const StateTraffic zero2 = state_traffic(thousand(2), links_of_eight());
  EXPECT_DOUBLE_EQ(zero2.reduce, 35);
  EXPECT_DOUBLE_EQ(zero2.per_step, 35);
  const StateTraffic zero3 = state_traffic(thousand(3), links_of_eight());
  EXPECT_DOUBLE_EQ(zero3.gather_forward, 35);
  EXPECT_DOUBLE_EQ(zero3.gather_backward, 35);
  EXPECT_DOUBLE_EQ(zero3.reduce, 35);
  EXPECT_EQ(zero3.per_step, 0);
}

TEST(StateTraffic, EachMessageHasItsStart) {
  StateTrafficInput input = thousand(0);
  input.profile.message_bytes = 600;  // 2000 bytes in 4 messages
  StateLinks links = links_of_eight();
  links.sharding.intra.start_seconds = 0.25;
  // Two rings' starts each.
  EXPECT_DOUBLE_EQ(state_traffic(input, links).per_step, 70 + 4 * 2 * 0.25);
}

TEST(StateTraffic, ShardGroupsGatherAmongThemselvesAndSumTheirShards) {
  // Over four ranks one pass is 1500 on the wire, 30 s; a shard of 500 is summed by two, 10 s.
  const StateTraffic zero1 = state_traffic(thousand(1), links_of_eight(2));
  EXPECT_DOUBLE_EQ(zero1.per_step, 30 + 30 + 10);
  const StateTraffic zero3 = state_traffic(thousand(3), links_of_eight(2));
  EXPECT_DOUBLE_EQ(zero3.per_step, 10);
  EXPECT_DOUBLE_EQ(zero3.reduce, 30);
}

TEST(StateTraffic, TheOptimizerMovesThirtyBytesForEachOwnedParameter) {
  EXPECT_DOUBLE_EQ(state_traffic(thousand(0), links_of_eight()).optimizer, 30.0 * 1000 / 10);
  EXPECT_DOUBLE_EQ(state_traffic(thousand(1), links_of_eight()).optimizer, 30.0 * 125 / 10);
}

TEST(StateTraffic, AccumulationReadsAndWritesTheAccumulator) {
  StateTrafficInput input = thousand(0);
  EXPECT_DOUBLE_EQ(state_traffic(input, links_of_eight()).accumulate, 6.0 * 1000 / 10);
  input.recipe.gradient = DType::fp32;
  EXPECT_DOUBLE_EQ(state_traffic(input, links_of_eight()).accumulate, 10.0 * 1000 / 10);
  input.fused_accumulation = true;
  EXPECT_DOUBLE_EQ(state_traffic(input, links_of_eight()).accumulate, 8.0 * 1000 / 10);
  input.micro_batches = 1;
  EXPECT_EQ(state_traffic(input, links_of_eight()).accumulate, 0);
}

TEST(StateTraffic, OffloadedStatePassesOverTheHostLink) {
  StateTrafficInput input = thousand(0);
  input.offload = plan::Offload::optimizer;
  EXPECT_DOUBLE_EQ(state_traffic(input, links_of_eight()).offload_per_step, 12000.0 / 100);
  input.offload = plan::Offload::optimizer_gradients;
  EXPECT_DOUBLE_EQ(state_traffic(input, links_of_eight()).offload_per_step, 14000.0 / 100);
  EXPECT_DOUBLE_EQ(state_traffic(input, links_of_eight()).offload_backward, 2000.0 / 100);
  input.offload = plan::Offload::all;
  EXPECT_DOUBLE_EQ(state_traffic(input, links_of_eight()).offload_forward, 2000.0 / 100);
  EXPECT_DOUBLE_EQ(state_traffic(input, links_of_eight()).offload_backward, 4000.0 / 100);
}

TEST(StateTraffic, OffloadWithoutALinkToTheHostIsRefused) {
  StateTrafficInput input = thousand(0);
  input.offload = plan::Offload::optimizer;
  input.host_link = {};
  EXPECT_THROW((void)state_traffic(input, links_of_eight()), Error);
}

TEST(StateTraffic, ABlocksParametersAreCountedByWhoSharesThem) {
  plan::Plan plan;
  plan.seq = 32;
  plan.layers_per_stage = {6};
  const plan::Profile profile = plan::load_profile("standard");
  const plan::ProgramBlocks blocks =
      plan::lower_blocks(test::small_model("mixtral"), plan, profile);
  const plan::ProgramBlock& layer =
      blocks.blocks[static_cast<std::size_t>(blocks.layer_of_kind.front())];
  const BlockParameters sums = block_parameters(layer, plan::recipe_of(plan, profile));
  // Attention 256 + 128 + 128 + 256, norms 32, router 4 x 16; experts 4 x 3 x 24 x 16.
  EXPECT_EQ(sums.dense.trained, 864);
  EXPECT_EQ(sums.experts.trained, 4608);
  EXPECT_EQ(sums.dense.weight_bytes, 2 * 864);
  EXPECT_EQ(sums.dense.state_bytes, 12 * 864);
  EXPECT_EQ(sums.gathered_bytes, 2 * 2 * 864);
}

}  // namespace
}  // namespace fourhold::predict
