#include "fourhold/engine/launch/fewer_ranks.h"

#include <gtest/gtest.h>

namespace fourhold::engine {
namespace {

plan::Plan plan_of(std::int64_t dp, std::int64_t grad_accum) {
  plan::Plan plan;
  plan.dp = dp;
  plan.grad_accum = grad_accum;
  plan.micro_batch = 2;
  plan.global_batch = 2 * grad_accum * dp;
  return plan;
}

// By hand: 4 replicas x 3 micro-batches are 12, which 3 replicas share as 4 each.
TEST(FewerRanks, ReplicasShareTheMicroBatchesOfTheSameGlobalBatch) {
  const auto fewer = plan_for_ranks(plan_of(4, 3), 3);
  ASSERT_TRUE(fewer.has_value());
  EXPECT_EQ(fewer->dp, 3);
  EXPECT_EQ(fewer->grad_accum, 4);
  EXPECT_EQ(fewer->global_batch, 24);
  EXPECT_EQ(fewer->micro_batch, 2);
}

// 4 x 1 micro-batches do not divide by 3, but by 2.
TEST(FewerRanks, TheLargestNumberThatDividesIsTaken) {
  const auto fewer = plan_for_ranks(plan_of(4, 1), 3);
  ASSERT_TRUE(fewer.has_value());
  EXPECT_EQ(fewer->dp, 2);
  EXPECT_EQ(fewer->grad_accum, 2);
}

TEST(FewerRanks, AReplicaOfSeveralRanksStaysWhole) {
  plan::Plan plan = plan_of(2, 2);
  plan.tp = 2;
  plan.pp = 2;
  EXPECT_EQ(plan_for_ranks(plan, 7)->dp, 1);
  EXPECT_EQ(plan_for_ranks(plan, 4)->devices(), 4);
  EXPECT_FALSE(plan_for_ranks(plan, 3).has_value());
}

TEST(FewerRanks, WithoutReplicasToLeaveOutThereIsNone) {
  plan::Plan plan = plan_of(1, 4);
  plan.pp = 4;
  EXPECT_FALSE(plan_for_ranks(plan, 3).has_value());
}

TEST(FewerRanks, ShardsNeedRanksToLieOn) {
  plan::Plan plan = plan_of(2, 1);
  plan.zero = 3;
  EXPECT_FALSE(plan_for_ranks(plan, 1).has_value());
  plan.zero = 1;
  EXPECT_TRUE(plan_for_ranks(plan, 1).has_value());
  plan.zero = 3;
  plan.cp = 2;
  EXPECT_EQ(plan_for_ranks(plan, 2)->dp, 1);
}

TEST(FewerRanks, ExpertsNeedRanksToLieOn) {
  plan::Plan plan = plan_of(4, 1);
  plan.ep = 4;
  EXPECT_FALSE(plan_for_ranks(plan, 3).has_value());
  plan.ep = 2;
  EXPECT_EQ(plan_for_ranks(plan, 3)->dp, 2);
}

// Interleaved 1F1B goes by rounds of pp micro-batches: 6 x 2 over 4 replicas are 3 each, no round
// of 2; over 3 they are 4.
TEST(FewerRanks, ChunksNeedWholeRounds) {
  plan::Plan plan = plan_of(6, 2);
  plan.pp = 2;
  plan.vpp = 2;
  EXPECT_EQ(plan_for_ranks(plan, 8)->dp, 3);
  EXPECT_EQ(plan_for_ranks(plan, 8)->grad_accum, 4);
}

TEST(FewerRanks, FlagsReplaceWhatTheCommandSaidBefore) {
  std::vector<std::string> words{"train", "plan.json", "--dp=4", "--steps", "9", "--count", "4"};
  set_replicas(words, plan_of(2, 6));
  EXPECT_EQ(words, (std::vector<std::string>{"train", "plan.json", "--steps", "9", "--dp", "2",
                                             "--grad-accum", "6", "--count", "2"}));
}

}  // namespace
}  // namespace fourhold::engine
