#include "fourhold/predict/collectives.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fourhold/plan/program.h"
#include "small_plans.h"

namespace fourhold::predict {
namespace {

using plan::Axis;
using plan::Collective;

TEST(Collectives, AGroupOfOneSendsNothing) {
  for (const Collective kind : {Collective::all_gather, Collective::reduce_scatter,
                                Collective::all_reduce, Collective::all_to_all, Collective::ring}) {
    EXPECT_EQ(collective_cost(kind, 1000, 1).steps, 0);
    EXPECT_EQ(collective_cost(kind, 1000, 1).wire_bytes, 0);
  }
}

TEST(Collectives, AnAllReduceIsAReduceScatterAndAGather) {
  // 800 bytes over 4: 600 for each half, 3 steps each; the gather's payload is the piece of 200.
  EXPECT_EQ(collective_cost(Collective::reduce_scatter, 800, 4).wire_bytes, 600);
  EXPECT_EQ(collective_cost(Collective::reduce_scatter, 800, 4).steps, 3);
  EXPECT_EQ(collective_cost(Collective::all_gather, 200, 4).wire_bytes, 600);
  EXPECT_EQ(collective_cost(Collective::all_reduce, 800, 4).wire_bytes, 1200);
  EXPECT_EQ(collective_cost(Collective::all_reduce, 800, 4).steps, 6);
}

TEST(Collectives, AllToAllKeepsTheRanksOwnPart) {
  EXPECT_EQ(collective_cost(Collective::all_to_all, 800, 8).wire_bytes, 700);
}

TEST(Collectives, ARingPassesKAndVOnToAllOthers) {
  EXPECT_EQ(collective_cost(Collective::ring, 100, 4).wire_bytes, 300);
  EXPECT_EQ(collective_cost(Collective::ring, 100, 4).steps, 3);
}

TEST(Collectives, DataParallelTrafficFollowsTheZeroStage) {
  // Psi = 1000 bytes of gradients and of weights, 8 ranks, 5 micro-batches: 875 for one pass.
  const ShardedBytes local{1000, 1000};
  EXPECT_EQ(data_traffic(0, local, 8).step_bytes(5), 2 * 875);
  EXPECT_EQ(data_traffic(1, local, 8).step_bytes(5), 2 * 875);
  EXPECT_EQ(data_traffic(2, local, 8).step_bytes(5), (5 + 1) * 875);
  EXPECT_EQ(data_traffic(3, local, 8).step_bytes(5), (2 * 5 + 5) * 875);
  EXPECT_EQ(data_traffic(3, local, 8, 1).step_bytes(5), (5 + 5) * 875);  // embedding and head
}

RC_GTEST_PROP(Collectives, ZeroOneCostsNoByteMoreThanZeroZero, ()) {
  const auto ranks = *rc::gen::inRange<std::int64_t>(1, 5000);
  const auto bytes = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40);
  const ShardedBytes local{static_cast<double>(bytes), static_cast<double>(bytes)};
  const double all_reduce = data_traffic(0, local, ranks).step_bytes(7);
  RC_ASSERT(std::abs(data_traffic(1, local, ranks).step_bytes(7) - all_reduce) <=
            1e-9 * (1 + all_reduce));
}

// Bytes one rank of a layer sends on an axis, and collectives it takes part in.
struct AxisTraffic {
  int collectives = 0;
  double wire_bytes = 0;
};
AxisTraffic traffic_of(const std::vector<plan::Step>& steps, Axis axis, std::int64_t ranks,
                       bool with_recompute) {
  AxisTraffic sum;
  for (const plan::Step& step : steps) {
    if (step.phase == plan::Phase::recompute && !with_recompute) continue;
    const bool counts = step.collective.kind != Collective::none &&
                        step.collective.kind != Collective::copy && step.collective.axis == axis;
    if (!counts) continue;
    const auto payload = static_cast<double>(step.payload_bytes);
    const double bytes = collective_cost(step.collective.kind, payload, ranks).wire_bytes;
    if (bytes > 0) ++sum.collectives;
    sum.wire_bytes += bytes;
  }
  return sum;
}

plan::ProgramBlock layer_of(const std::string& family, const plan::Plan& plan) {
  const model::ModelConfig config = test::small_model(family);
  const plan::ProgramBlocks blocks =
      plan::lower_blocks(config, plan, plan::load_profile("standard"));
  return blocks.blocks[static_cast<std::size_t>(blocks.layer_of_kind.front())];
}

plan::Plan plan_of_seq(std::int64_t seq) {
  plan::Plan plan;
  plan.seq = seq;
  plan.layers_per_stage = {6};
  return plan;
}

// h 16, b 1, s 32, bf16: the stream is 2 x 32 x 16 = 1024 bytes; half of it crosses at tp 2.
TEST(Collectives, SequenceParallelismHasFourHalfCollectivesEachWay) {
  plan::Plan plan = plan_of_seq(32);
  plan.tp = 2;
  plan.sp = true;
  const plan::ProgramBlock layer = layer_of("llama", plan);
  const AxisTraffic forward = traffic_of(layer.forward, Axis::tp, 2, false);
  EXPECT_EQ(forward.collectives, 4);
  EXPECT_EQ(forward.wire_bytes, 4 * 512);
  const AxisTraffic backward = traffic_of(layer.backward, Axis::tp, 2, false);
  EXPECT_EQ(backward.collectives, 4);
  EXPECT_EQ(backward.wire_bytes, 4 * 512);
  // The inputs of the two column-split products are gathered again for their weights' gradients.
  EXPECT_EQ(traffic_of(layer.backward, Axis::tp, 2, true).collectives, 6);
}

TEST(Collectives, TensorParallelismAloneMovesEightBshElementsPerLayer) {
  // Narayanan 2021, sec. 3.3.1: 8 b s h (t - 1) / t elements, forward and backward together.
  plan::Plan plan = plan_of_seq(32);
  plan.tp = 4;
  const plan::ProgramBlock layer = layer_of("gpt2", plan);
  const AxisTraffic forward = traffic_of(layer.forward, Axis::tp, 4, false);
  const AxisTraffic backward = traffic_of(layer.backward, Axis::tp, 4, false);
  EXPECT_EQ(forward.collectives, 2);
  EXPECT_EQ(backward.collectives, 2);
  EXPECT_EQ(forward.wire_bytes + backward.wire_bytes, 2.0 * 8 * 32 * 16 * 3 / 4);
}

TEST(Collectives, ExpertsExchangeRowsTwiceEachWay) {
  // 32 tokens x 2 experts x h 16 x 2 bytes = 2048 bytes, half of which stay at ep 2.
  plan::Plan plan = plan_of_seq(32);
  plan.ep = 2;
  plan.dp = 2;
  const plan::ProgramBlock layer = layer_of("mixtral", plan);
  for (const auto* steps : {&layer.forward, &layer.backward}) {
    const AxisTraffic traffic = traffic_of(*steps, Axis::ep, 2, false);
    EXPECT_EQ(traffic.collectives, 2);
    EXPECT_EQ(traffic.wire_bytes, 2 * 1024);
  }
}

TEST(Collectives, ContextParallelismPassesKAndVRound) {
  // k and v of 2 heads of 4 for 32 / 2 tokens: 2 x 16 x 8 x 2 bytes = 512, once; backward their
  // gradients as well.
  plan::Plan plan = plan_of_seq(32);
  plan.cp = 2;
  const plan::ProgramBlock layer = layer_of("llama", plan);
  EXPECT_EQ(traffic_of(layer.forward, Axis::cp, 2, false).wire_bytes, 512);
  EXPECT_EQ(traffic_of(layer.backward, Axis::cp, 2, false).wire_bytes, 1024);
}

TEST(Collectives, AStageSendsItsStreamOnce) {
  const plan::ProgramBlock layer = layer_of("llama", plan_of_seq(32));
  const plan::ProgramTensor& out = layer.tensors[static_cast<std::size_t>(layer.output)];
  const auto bytes = static_cast<double>(bytes_of(out.shape.elements(), out.dtype));
  EXPECT_EQ(collective_cost(Collective::send_receive, bytes, 2).wire_bytes, 2.0 * 32 * 16);
}

}  // namespace
}  // namespace fourhold::predict
