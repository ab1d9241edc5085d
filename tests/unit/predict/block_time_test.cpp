#include "fourhold/predict/block_time.h"

#include <cmath>

#include <gtest/gtest.h>

#include "small_plans.h"

namespace fourhold::predict {
namespace {

// Rates at which only arithmetic counts: 1 FLOP/s of products, memory and attention for nothing.
BlockTimeInput arithmetic_only() {
  BlockTimeInput input;
  input.rates.matmul_flops_per_second = 1;
  input.rates.score_flops_per_second = 1e30;
  input.rates.attention_flops_per_second = 1e30;
  input.rates.attention_backward_flops_per_second = 1e30;
  input.rates.memory_bytes_per_second = 1e30;
  input.rates.elementwise_bytes_per_second = 1e30;
  input.sizes = {.micro_batch = 1, .seq = 32};
  return input;
}

plan::ProgramBlock layer_of(const plan::Plan& plan) {
  const plan::ProgramBlocks blocks =
      plan::lower_blocks(test::small_model("gpt2"), plan, plan::load_profile("standard"));
  return blocks.blocks[static_cast<std::size_t>(blocks.layer_of_kind.front())];
}

plan::Plan small_plan() {
  plan::Plan plan;
  plan.seq = 32;
  plan.layers_per_stage = {5};
  return plan;
}

constexpr double kForward = 24.0 * 32 * 16 * 16;  // products of the layer, 24 T h^2

TEST(BlockTime, BackwardIsTwiceForward) {
  const BlockTime time = block_time(layer_of(small_plan()), arithmetic_only());
  EXPECT_NEAR(time.forward.compute, kForward, 1e-3);
  EXPECT_NEAR(time.backward.compute, 2 * kForward, 1e-3);
  EXPECT_EQ(time.recomputed_flops, 0);
}

TEST(BlockTime, FullRecomputationIsOneMoreForward) {
  plan::Plan plan = small_plan();
  plan.recompute = plan::recompute_from_string("full");
  const BlockTime time = block_time(layer_of(plan), arithmetic_only());
  // The last product of the layer is not needed again: its output leaves the layer.
  EXPECT_LE(time.backward.recompute, kForward);
  EXPECT_GE(time.backward.recompute, kForward * 16 / 24);
  EXPECT_NEAR(time.backward.compute, 2 * kForward, 1e-3);
}

TEST(BlockTime, AHostThatIsSlowerSetsThePace) {
  BlockTimeInput input = arithmetic_only();
  const double device = block_time(layer_of(small_plan()), input).seconds();
  input.rates.host_seconds_per_operation = 100 * device;
  const BlockTime slow = block_time(layer_of(small_plan()), input);
  EXPECT_GT(slow.forward.host, 0);
  EXPECT_GT(slow.seconds(), 100 * device * 26);
  // A host twice as fast as the device adds (1 + 2^-12)^(1/12) - 1, as good as nothing.
  const double calls = slow.seconds() / (100 * device);
  input.rates.host_seconds_per_operation = device / 2 / calls;
  EXPECT_NEAR(block_time(layer_of(small_plan()), input).seconds() / device,
              std::pow(1 + std::pow(2.0, -12), 1.0 / 12), 1e-9);
  // Where both are equal, the sharp maximum is 2^(1/12).
  input.rates.host_seconds_per_operation = device / calls;
  EXPECT_NEAR(block_time(layer_of(small_plan()), input).seconds() / device, std::pow(2.0, 1.0 / 12),
              1e-9);
}

TEST(BlockTime, AStalledLayerLastsAtLeastItsFloor) {
  BlockTimeInput input = arithmetic_only();
  const double device = block_time(layer_of(small_plan()), input).seconds();
  input.layer_floor_seconds = 2 * device;
  EXPECT_NEAR(block_time(layer_of(small_plan()), input).seconds(), 2 * device, 1e-9 * device);
  input.layer_floor_seconds = device / 2;
  EXPECT_NEAR(block_time(layer_of(small_plan()), input).seconds(), device, 1e-9 * device);
}

TEST(BlockTime, AStalledLayerWaitsBesideItsHostAndTheStartsOfItsCollectives) {
  plan::Plan plan = small_plan();
  plan.tp = 2;
  BlockTimeInput input = arithmetic_only();
  input.links.tp.topology = {2, 2, 1};
  input.links.tp.intra = {"inside", 1e30, 0, 1, 3, 0};  // 3 s to start a ring, nothing to carry
  const double device = block_time(layer_of(plan), input).seconds();
  // Two all-reduces each way, of two rings each: 4 x 2 x 3 = 24 s.
  input.layer_floor_seconds = 10 * device;
  EXPECT_NEAR(block_time(layer_of(plan), input).seconds(), 10 * device + 24, 1e-9 * device);
  // A host that is far slower than the device sets the pace alone: that is its time.
  input.rates.host_seconds_per_operation = 1e3 * device;
  input.layer_floor_seconds = 0;
  const double host = block_time(layer_of(plan), input).seconds();
  EXPECT_GT(host, 1e4 * device);
  input.layer_floor_seconds = 10 * device;
  EXPECT_NEAR(block_time(layer_of(plan), input).seconds(), host + 10 * device + 24, 1e-9 * host);
}

TEST(BlockTime, TensorTrafficIsTheGroupsCollectives) {
  plan::Plan plan = small_plan();
  plan.tp = 2;
  BlockTimeInput input = arithmetic_only();
  input.links.tp.topology = {2, 2, 1};
  input.links.tp.intra = {"inside", 1, 0, 1, 0, 0};  // 1 byte per second, nothing to start
  // Two all-reduces each way of 2 x 32 x 16 bytes, which at n = 2 are 1024 bytes on the wire.
  const BlockTime time = block_time(layer_of(plan), input);
  EXPECT_DOUBLE_EQ(time.forward.tensor_parallel, 2 * 1024);
  EXPECT_DOUBLE_EQ(time.backward.tensor_parallel, 2 * 1024);
  input.tensor_overlap = 0.75;
  EXPECT_DOUBLE_EQ(block_time(layer_of(plan), input).forward.tensor_parallel, 512);
}

// Of gate and up apart each reduces the gradient of the input that both read: a third all-reduce
// backward, of 2 x 32 x 16 bytes as the others.
TEST(BlockTime, GateAndUpApartReduceTheirInputsGradientTwice) {
  plan::Plan plan = small_plan();
  plan.tp = 2;
  plan.layers_per_stage = {6};
  const plan::ProgramBlocks blocks =
      plan::lower_blocks(test::small_model("llama"), plan, plan::load_profile("standard"));
  const plan::ProgramBlock& layer =
      blocks.blocks[static_cast<std::size_t>(blocks.layer_of_kind.front())];
  BlockTimeInput input = arithmetic_only();
  input.links.tp.topology = {2, 2, 1};
  input.links.tp.intra = {"inside", 1, 0, 1, 0, 0};
  EXPECT_DOUBLE_EQ(block_time(layer, input).backward.tensor_parallel, 2 * 1024);
  input.gate_and_up = plan::GateAndUp::two_layers;
  const BlockTime time = block_time(layer, input);
  EXPECT_DOUBLE_EQ(time.forward.tensor_parallel, 2 * 1024);
  EXPECT_DOUBLE_EQ(time.backward.tensor_parallel, 3 * 1024);
}

TEST(BlockTime, ARingIsHiddenBehindMostOfItsAttention) {
  plan::Plan plan = small_plan();
  plan.cp = 2;
  BlockTimeInput input = arithmetic_only();
  input.rates.attention_flops_per_second = 1;
  input.rates.attention_backward_flops_per_second = 1;
  input.links.cp.topology = {2, 2, 1};
  input.links.cp.intra = {"inside", 1, 0, 1, 0, 0};
  // 16 queries x 4 heads x 2 (4 + 4) x 32 keys = 32768 s of attention; k and v are 1024 bytes.
  EXPECT_EQ(block_time(layer_of(plan), input).forward.context_parallel, 0);
  input.links.cp.intra.bytes_per_second = 1024.0 / 40000;
  EXPECT_NEAR(block_time(layer_of(plan), input).forward.context_parallel, 40000 - 0.8 * 32768,
              1e-6);
}

}  // namespace
}  // namespace fourhold::predict
