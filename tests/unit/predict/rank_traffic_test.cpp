// What one rank sends, by pieces counted by hand.
#include "fourhold/predict/rank_traffic.h"

#include <gtest/gtest.h>

#include <string>

#include "fourhold/model/hf_config.h"

namespace fourhold::predict {
namespace {

using plan::Collective;

// Elements of GPT-2's parameters with a width of 8 and one layer: tables 11 x 8 = 88 and 6 x 8 =
// 48; eleven vectors of 8 (two norms of the layer and the last, biases of q, k, v, o and down), q,
// k, v and o of 64, up and down of 256, the bias of up 32. Twenty in all, 1,024 elements.
constexpr std::int64_t kElements = 1024;
constexpr std::int64_t kParameters = 20;
// Of pieces ceil(E / 3): 30 + 16 + 11 x 3 + 4 x 22 + 2 x 86 + 11, and what is left of each for the
// last: 28 + 16 + 11 x 2 + 4 x 20 + 2 x 84 + 10.
constexpr std::int64_t kOwned[] = {350, 350, 324};
// Tokens, loss, norm, and the word that all is finite.
constexpr std::int64_t kScalars = 4;

model::ModelConfig gpt2(int layers) {
  return model::read_hf_config(
      R"({"model_type":"gpt2","vocab_size":11,"n_positions":6,"n_embd":8,"n_head":2,"n_layer":)" +
          std::to_string(layers) + "}",
      "small");
}

plan::Plan plan_of(std::int64_t dp, int zero) {
  plan::Plan plan;
  plan.profile = "fourhold";
  plan.precision = plan::Precision::fp32;
  plan.dp = dp;
  plan.zero = zero;
  plan.seq = 6;
  plan.global_batch = dp;
  plan.layers_per_stage = {1};
  return plan;
}

RankTraffic traffic_of(const plan::Plan& plan, std::int64_t rank, int layers = 1) {
  return rank_traffic(gpt2(layers), plan, plan::load_profile("fourhold"), rank);
}

// Each member sends others' pieces to be summed, and then its own to each: E - e + 2 e. Of a single
// number, the first member's piece is all of it.
TEST(RankTraffic, OfReplicasDependsOnTheRanksPieces) {
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    const RankTraffic traffic = traffic_of(plan_of(3, 0), rank);
    const TrafficCount& sums = traffic.of(Collective::all_reduce);
    EXPECT_EQ(sums.bytes, 4 * (kElements + kOwned[rank]) + kScalars * (rank == 0 ? 16 : 8)) << rank;
    EXPECT_EQ(sums.calls, kParameters + kScalars);
    EXPECT_EQ(sums.steps, 4 * (kParameters + kScalars));
    EXPECT_EQ(traffic.bytes(), sums.bytes);
  }
}

TEST(RankTraffic, OfZero1IsTheTwoHalvesOfThat) {
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    const RankTraffic traffic = traffic_of(plan_of(3, 1), rank);
    EXPECT_EQ(traffic.of(Collective::reduce_scatter).bytes, 4 * (kElements - kOwned[rank])) << rank;
    EXPECT_EQ(traffic.of(Collective::all_gather).bytes, 4 * 2 * kOwned[rank]) << rank;
    EXPECT_EQ(traffic.of(Collective::all_reduce).bytes, kScalars * (rank == 0 ? 16 : 8)) << rank;
    EXPECT_EQ(traffic.of(Collective::reduce_scatter).steps, 2 * kParameters);
  }
}

// Over the ranks of a group it is the average that collectives.h states: 2 S (n - 1) / n each of
// 4,096 bytes, and of 8 for each number.
TEST(RankTraffic, OfAllRanksTogetherIsThatOfARing) {
  for (const std::int64_t ranks : {2, 3, 5}) {
    std::int64_t sum = 0;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      sum += traffic_of(plan_of(ranks, 0), rank).bytes();
    }
    EXPECT_EQ(sum, 2 * (ranks - 1) * (4 * kElements + 8 * kScalars)) << ranks;
  }
}

// A stage of the first of two hands on 6 tokens of 8 fp32 numbers for each micro-batch, the other
// their gradient. Both ends have the table: an all-reduce of 88 elements between two.
TEST(RankTraffic, OfStagesIsWhatTheyHandOn) {
  plan::Plan plan = plan_of(1, 0);
  plan.pp = 2;
  plan.grad_accum = 3;
  plan.global_batch = 3;
  plan.layers_per_stage = {1, 1};
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    const RankTraffic traffic = traffic_of(plan, rank, 2);
    EXPECT_EQ(traffic.of(Collective::send_receive).bytes, 3 * 6 * 8 * 4) << rank;
    EXPECT_EQ(traffic.of(Collective::send_receive).calls, 3) << rank;
    // The tokens are counted over dp x cp, which is one rank here.
    EXPECT_EQ(traffic.of(Collective::all_reduce).bytes, 4 * 88 + 8 * (kScalars - 1)) << rank;
  }
}

}  // namespace
}  // namespace fourhold::predict
