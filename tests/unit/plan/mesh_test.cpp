#include "fourhold/plan/mesh.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace fourhold::plan {
namespace {

using Ranks = std::vector<std::int64_t>;

Plan plan_of(std::int64_t tp, std::int64_t cp, std::int64_t dp, std::int64_t pp,
             std::int64_t ep = 1) {
  Plan plan;
  plan.tp = tp;
  plan.cp = cp;
  plan.dp = dp;
  plan.pp = pp;
  plan.ep = ep;
  return plan;
}

TEST(Mesh, TensorIsFastestThenContextThenDataThenPipeline) {
  const Plan plan = plan_of(2, 3, 5, 7);
  EXPECT_EQ(coordinates(plan, 1), (Coordinates{1, 0, 0, 0}));
  EXPECT_EQ(coordinates(plan, 2), (Coordinates{0, 1, 0, 0}));
  EXPECT_EQ(coordinates(plan, 6), (Coordinates{0, 0, 1, 0}));   // 2 x 3
  EXPECT_EQ(coordinates(plan, 30), (Coordinates{0, 0, 0, 1}));  // 2 x 3 x 5
  EXPECT_EQ(coordinates(plan, 209), (Coordinates{1, 2, 4, 6}));
}

TEST(Mesh, RanksAndCoordinatesAreTheSameThing) {
  const Plan plan = plan_of(2, 3, 5, 7);
  for (std::int64_t rank = 0; rank < plan.devices(); ++rank) {
    EXPECT_EQ(rank_of(plan, coordinates(plan, rank)), rank);
  }
}

// tp 2, cp 2, dp 4, pp 2: rank = tp + 2 cp + 4 dp + 16 pp.
TEST(Mesh, GroupsOfEachAxisAreThoseOfTheFormula) {
  const Plan plan = plan_of(2, 2, 4, 2, 4);
  EXPECT_EQ(group_of(plan, Axis::tp, 7, 8), (Ranks{6, 7}));
  EXPECT_EQ(group_of(plan, Axis::cp, 7, 8), (Ranks{5, 7}));
  EXPECT_EQ(group_of(plan, Axis::dp, 7, 8), (Ranks{3, 7, 11, 15}));
  EXPECT_EQ(group_of(plan, Axis::pp, 7, 8), (Ranks{7, 23}));
  EXPECT_EQ(group_of(plan, Axis::sharding, 7, 8), (Ranks{1, 3, 5, 7, 9, 11, 13, 15}));
  // Expert ranks are neighbours in dp x cp; their replicas are one group apart.
  EXPECT_EQ(group_of(plan, Axis::ep, 7, 8), (Ranks{1, 3, 5, 7}));
  EXPECT_EQ(group_of(plan, Axis::ep, 9, 8), (Ranks{9, 11, 13, 15}));
  EXPECT_EQ(group_of(plan, Axis::expert_sharding, 7, 8), (Ranks{7, 15}));
  EXPECT_EQ(group_of(plan, Axis::world, 7, 8).size(), 32U);
}

// The same plan in two shard groups: halves of the eight ranks of dp x cp that hold equal tp parts,
// whose ranks of equal place hold the same shards.
TEST(Mesh, ShardGroupsAreNeighboursAndTheirReplicasAGroupApart) {
  Plan plan = plan_of(2, 2, 4, 2, 4);
  plan.shard_groups = 2;
  EXPECT_EQ(group_of(plan, Axis::sharding, 7, 8), (Ranks{1, 3, 5, 7, 9, 11, 13, 15}));
  EXPECT_EQ(group_of(plan, Axis::shard_group, 7, 8), (Ranks{1, 3, 5, 7}));
  EXPECT_EQ(group_of(plan, Axis::shard_group, 9, 8), (Ranks{9, 11, 13, 15}));
  EXPECT_EQ(group_of(plan, Axis::shard_replicas, 7, 8), (Ranks{7, 15}));
  EXPECT_EQ(group_of(plan, Axis::expert_shard_group, 7, 8), (Ranks{7}));
  EXPECT_EQ(group_of(plan, Axis::expert_shard_replicas, 7, 8), (Ranks{7, 15}));
  plan.shard_groups = 1;
  EXPECT_EQ(group_of(plan, Axis::shard_group, 7, 8), group_of(plan, Axis::sharding, 7, 8));
  EXPECT_EQ(group_of(plan, Axis::shard_replicas, 7, 8), (Ranks{7}));
}

TEST(Mesh, RanksThatShareAKeyValueHeadAreNeighbours) {
  const Plan plan = plan_of(8, 1, 2, 1);
  EXPECT_EQ(group_of(plan, Axis::kv_replicas, 5, 4), (Ranks{4, 5}));
  EXPECT_EQ(group_of(plan, Axis::kv_replicas, 13, 2), (Ranks{12, 13, 14, 15}));
  EXPECT_EQ(group_of(plan, Axis::kv_replicas, 5, 8), (Ranks{5}));
}

TEST(Mesh, ATiedEmbeddingJoinsTheFirstAndTheLastStage) {
  const Plan plan = plan_of(1, 1, 2, 4);
  EXPECT_EQ(group_of(plan, Axis::embedding, 1, 1), (Ranks{1, 7}));
  EXPECT_EQ(group_of(plan, Axis::embedding, 7, 1), (Ranks{1, 7}));
  EXPECT_EQ(group_of(plan, Axis::embedding, 3, 1), (Ranks{3}));
  EXPECT_EQ(group_of(plan_of(1, 1, 2, 1), Axis::embedding, 1, 1), (Ranks{1}));
}

TEST(Mesh, EveryAxisPartitionsTheWorldIntoAscendingGroupsOfItsSize) {
  for (const Plan& plan : {plan_of(1, 1, 1, 1), plan_of(4, 2, 6, 3, 4), plan_of(6, 1, 4, 2, 2),
                           plan_of(2, 3, 2, 1, 6), plan_of(3, 2, 4, 4, 8)}) {
    for (const Axis axis :
         {Axis::tp, Axis::cp, Axis::dp, Axis::pp, Axis::ep, Axis::sharding, Axis::expert_sharding,
          Axis::kv_replicas, Axis::embedding, Axis::world}) {
      std::vector<int> seen(static_cast<std::size_t>(plan.devices()), 0);
      for (std::int64_t rank = 0; rank < plan.devices(); ++rank) {
        const Ranks group = group_of(plan, axis, rank, 2);
        EXPECT_TRUE(std::is_sorted(group.begin(), group.end()));
        EXPECT_EQ(std::count(group.begin(), group.end(), rank), 1);
        for (const std::int64_t other : group) {
          EXPECT_EQ(group_of(plan, axis, other, 2), group);  // one group, whoever asks
        }
        ++seen[static_cast<std::size_t>(group.front())];
        const bool middle = axis == Axis::embedding && group.size() == 1;
        if (!middle) {
          EXPECT_EQ(static_cast<std::int64_t>(group.size()), group_size(plan, axis, 2));
        }
      }
      // Each group was found once by each of its members, under its first rank.
      for (std::int64_t rank = 0; rank < plan.devices(); ++rank) {
        const int found = seen[static_cast<std::size_t>(rank)];
        if (found > 0) {
          EXPECT_EQ(found, static_cast<int>(group_of(plan, axis, rank, 2).size()));
        }
      }
    }
  }
}

TEST(Mesh, GroupSizesAreTheProductsOfTheirDegrees) {
  const Plan plan = plan_of(4, 2, 6, 3, 4);
  EXPECT_EQ(group_size(plan, Axis::sharding, 2), 12);        // 6 x 2
  EXPECT_EQ(group_size(plan, Axis::expert_sharding, 2), 3);  // 12 / 4
  EXPECT_EQ(group_size(plan, Axis::kv_replicas, 2), 2);      // 4 / 2
  EXPECT_EQ(group_size(plan, Axis::world, 2), 144);
}

}  // namespace
}  // namespace fourhold::plan
