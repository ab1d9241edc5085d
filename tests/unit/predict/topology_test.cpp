#include "fourhold/predict/topology.h"

#include <gtest/gtest.h>

#include "fourhold/base/error.h"

namespace fourhold::predict {
namespace {

using plan::Axis;
using plan::Collective;

void expect_topology(const GroupTopology& group, std::int64_t ranks, std::int64_t in_node,
                     std::int64_t nodes) {
  EXPECT_EQ(group.ranks, ranks);
  EXPECT_EQ(group.ranks_in_node, in_node);
  EXPECT_EQ(group.nodes, nodes);
}

TEST(Topology, NeighboursShareANodeAndFarRanksDoNot) {
  expect_topology(group_topology(8, 1, 8), 8, 8, 1);
  expect_topology(group_topology(16, 1, 8), 16, 8, 2);
  expect_topology(group_topology(4, 2, 8), 4, 4, 1);  // 0 2 4 6
  expect_topology(group_topology(8, 2, 8), 8, 4, 2);  // 0 2 4 6 | 8 ...
  expect_topology(group_topology(4, 8, 8), 4, 1, 4);  // one in each node
  expect_topology(group_topology(4, 32, 8), 4, 1, 4);
  expect_topology(group_topology(1, 1, 8), 1, 1, 1);
}

TEST(Topology, AGroupThatDoesNotDivideTheNodeLiesAcrossABorderSomewhere) {
  expect_topology(group_topology(3, 1, 8), 3, 2, 2);  // 6 7 | 8
}

TEST(Topology, ARunThatOneNodeHoldsCrossesNone) {
  plan::Plan plan;
  plan.dp = 64;
  expect_topology(group_topology(plan, Axis::sharding, 1, 72), 64, 64, 1);
  plan.dp = 48;
  plan.tp = 2;  // 96 devices in racks of 72: some pair of the far ranks is apart
  expect_topology(group_topology(plan, Axis::sharding, 1, 72), 48, 36, 2);
}

TEST(Topology, RanksStandTensorFastestThenContextDataPipeline) {
  plan::Plan plan;
  plan.tp = 4;
  plan.cp = 2;
  plan.dp = 2;
  plan.pp = 2;
  expect_topology(group_topology(plan, Axis::tp, 4, 8), 4, 4, 1);
  expect_topology(group_topology(plan, Axis::cp, 4, 8), 2, 2, 1);  // 0 and 4
  expect_topology(group_topology(plan, Axis::dp, 4, 8), 2, 1, 2);  // 0 and 8
  expect_topology(group_topology(plan, Axis::pp, 4, 8), 2, 1, 2);  // 0 and 16
  expect_topology(group_topology(plan, Axis::sharding, 4, 8), 4, 2, 2);
}

GroupLinks links(std::int64_t ranks, std::int64_t stride) {
  GroupLinks group;
  group.topology = group_topology(ranks, stride, 8);
  group.intra = {"inside", 100, 0, 0.5, 0.25, 0.125};  // 50 bytes per second
  group.inter = {"between", 20, 0, 0.5, 4.0, 2.0};     // 10 bytes per second
  return group;
}

TEST(Topology, AcrossNodesTheRanksOfANodeDriveItsPortsTogether) {
  EXPECT_EQ(ring_bytes_per_second(links(8, 1)), 50);
  EXPECT_EQ(ring_bytes_per_second(links(4, 8)), 10);   // one rank in a node, one port
  EXPECT_EQ(ring_bytes_per_second(links(4, 4)), 20);   // two ranks in a node
  EXPECT_EQ(ring_bytes_per_second(links(16, 1)), 50);  // eight ports are faster than the inside
}

TEST(Topology, ARingStartsInsideNodesAndBetweenThem) {
  EXPECT_EQ(ring_start_seconds(links(8, 1)), 0.25 + 7 * 0.125);
  // 16 ranks in 2 nodes: 14 hops inside, a start and a hop between.
  EXPECT_EQ(ring_start_seconds(links(16, 1)), 0.25 + 14 * 0.125 + 4 + 2);
}

TEST(Topology, SecondsAreBytesOverTheRingAndAStartPerMessage) {
  // 800 bytes over 8: 700 on the wire at 50 a second.
  const double start = 0.25 + 7 * 0.125;
  EXPECT_EQ(collective_seconds(Collective::reduce_scatter, 800, links(8, 1)), 14 + start);
  EXPECT_EQ(collective_seconds(Collective::reduce_scatter, 800, links(8, 1), 3), 14 + 3 * start);
  EXPECT_EQ(collective_seconds(Collective::all_reduce, 800, links(8, 1)), 28 + 2 * start);
  EXPECT_EQ(collective_seconds(Collective::all_reduce, 800, links(1, 1)), 0);
}

TEST(Topology, AnAllReduceOverManyNodesStartsAsATree) {
  // 64 nodes: two rings cost 2 (0.25 + 4 + 63 x 2) = 260.5. A tree of 6 levels, up and down: a
  // level is 2.5 hops of 2, but no more than the start, 4: 4.25 + 2 x 6 x 4 = 52.25. With hops of 1
  // it is 4.25 + 2 x 6 x 2.5 = 34.25.
  EXPECT_DOUBLE_EQ(collective_seconds(Collective::all_reduce, 0, links(64, 8)), 52.25);
  GroupLinks near = links(64, 8);
  near.inter.hop_seconds = 1;
  EXPECT_DOUBLE_EQ(collective_seconds(Collective::all_reduce, 0, near), 34.25);
}

TEST(Topology, AnAllToAllUsesBothLinksAtOnce) {
  // 16 ranks, 1600 bytes: 700 inside at 50 = 14 s, 800 across at 10 = 80 s.
  EXPECT_DOUBLE_EQ(collective_seconds(Collective::all_to_all, 1600, links(16, 1)),
                   80 + ring_start_seconds(links(16, 1)));
}

TEST(Topology, ARoutedTokenTravelsOnceToEachNode) {
  // 16 ranks in two nodes, 1,600 bytes in 8 copies. Inside: 1600 x 7 / 16 / 50 = 14 s. Between: a
  // token reaches 2 (1 - 1 / 2^8) = 1.9921875 nodes for its 8 copies, so that of the
  // 1600 x 8 / 16 / 10 = 80 s of all copies 0.2490 are sent: 19.92 s. And a start.
  const double start = ring_start_seconds(links(16, 1));
  EXPECT_NEAR(routed_exchange_seconds(1600, 8, links(16, 1)), 80 * 1.9921875 / 8 + start, 1e-9);
  // One copy is an all-to-all, and so is a group of one node.
  EXPECT_NEAR(routed_exchange_seconds(1600, 1, links(16, 1)),
              collective_seconds(Collective::all_to_all, 1600, links(16, 1)), 1e-9);
  EXPECT_NEAR(routed_exchange_seconds(800, 1, links(8, 1)),
              collective_seconds(Collective::all_to_all, 800, links(8, 1)), 1e-9);
}

TEST(Topology, NodesWithoutALinkBetweenThemAreRefused) {
  hardware::Device device;
  device.name = "box";
  device.devices_per_node = 8;
  device.intra_node = {"inside", 100};
  plan::Plan plan;
  plan.dp = 16;
  try {
    (void)group_links(hardware::uniform_cluster(device, 16), plan, Axis::dp, 1);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "inter_node");
    EXPECT_STREQ(error.what(),
                 "is missing for box, but 16 ranks that communicate stand in 2 nodes");
    EXPECT_EQ(error.hint(), "add the link between nodes to the device, or use at most 8 devices");
  }
}

}  // namespace
}  // namespace fourhold::predict
