#include "fourhold/engine/measure/rank_links.h"

#include <gtest/gtest.h>

#include <mutex>
#include <vector>

#include "fourhold/base/json.h"
#include "fourhold/engine/communicator/thread_communicator.h"
#include "fourhold/hardware/device_file.h"
#include "fourhold/predict/topology.h"

namespace fourhold::engine {
namespace {

// Two nodes of two ranks. By hand: sums in a node send 10 GB/s and start in 5 us, of which one hop
// is 2 us; sums of all start in 40 us, of which the node's part is 3 + 2 x 2 us and one hop between
// nodes 15 us. Both ranks of a node share its 1.5 GB/s.
RankRates two_by_two() {
  RankRates rates;
  rates.nodes = 2;
  rates.node_ranks = 2;
  rates.near = {2e-6, 8e9};
  rates.far = {15e-6, 1.5e9};
  rates.node = {2, 5e-6, 10e9};
  rates.all = {4, 40e-6, 1.2e9};
  return rates;
}

TEST(RankLinks, ANodesLinkIsItsMessagesAndItsSums) {
  const hardware::Link link = node_link(two_by_two());
  EXPECT_DOUBLE_EQ(link.bytes_per_second, 10e9);  // sums are faster than single messages
  EXPECT_DOUBLE_EQ(link.share, 1);
  EXPECT_DOUBLE_EQ(link.latency_seconds, 2e-6);
  EXPECT_DOUBLE_EQ(link.hop_seconds, 2e-6);
  EXPECT_NEAR(link.start_seconds, 3e-6, 1e-12);
}

TEST(RankLinks, BetweenNodesADeviceHasItsShareOfThePorts) {
  const hardware::Link link = network_link(two_by_two());
  EXPECT_DOUBLE_EQ(link.bytes_per_second, 0.75e9);
  EXPECT_DOUBLE_EQ(link.share, 0.8);
  EXPECT_DOUBLE_EQ(link.latency_seconds, 15e-6);
  EXPECT_NEAR(link.start_seconds, (40 - 3 - 2 * 2 - 15) * 1e-6, 1e-12);
}

TEST(RankLinks, OneNodeHasNoNetworkAndOneRankNoLinkAtAll) {
  RankRates rates = two_by_two();
  rates.nodes = 1;
  EXPECT_FALSE(network_link(rates).exists());
  EXPECT_TRUE(node_link(rates).exists());
  rates.node.ranks = 1;
  EXPECT_FALSE(node_link(rates).exists());
}

// The model of time, asked for the sums that were measured, gives their seconds again.
void expect_returns(const RankRates& rates, const predict::GroupTopology& topology,
                    const ExchangeRates& exchange) {
  hardware::Device device;
  set_links(device, rates, "threads of one process");
  const hardware::Link inside = device.intra_node.exists() ? device.intra_node : device.inter_node;
  const predict::GroupLinks links{topology, inside, device.inter_node};
  constexpr double kBytes = 1e8;
  const auto n = static_cast<double>(exchange.ranks);
  const double measured = exchange.start_seconds + kBytes * (n - 1) / n / exchange.bytes_per_second;
  EXPECT_NEAR(predict::collective_seconds(plan::Collective::reduce_scatter, kBytes, links),
              measured, 1e-9 * measured);
}

TEST(RankLinks, TheModelOfTimeReturnsWhatWasMeasured) {
  const RankRates rates = two_by_two();
  expect_returns(rates, {2, 2, 1}, rates.node);
  expect_returns(rates, {4, 2, 2}, rates.all);
  RankRates alone = rates;  // a rank on each of four nodes
  alone.nodes = 4;
  alone.node_ranks = 1;
  alone.node = {1, 0, 0};
  alone.all = {4, 100e-6, 1.2e9};
  expect_returns(alone, {4, 1, 4}, alone.all);
}

TEST(RankLinks, ADeviceFileKeepsThem) {
  hardware::Device device = hardware::parse_device(
      R"({"name": "node", "usable_bytes": "8GiB", "peak_flops": {"fp32": 1e12},
          "memory_bandwidth_bytes_per_second": 1e10})",
      "node.json");
  set_links(device, two_by_two(), "MPI");
  const hardware::Device read =
      hardware::parse_device(json::write(hardware::device_json(device)), "node.json");
  EXPECT_EQ(read.intra_node, device.intra_node);
  EXPECT_EQ(read.inter_node, device.inter_node);
  EXPECT_EQ(read.devices_per_node, 2);
  EXPECT_NE(std::string(read.source_of("inter_node")).find("4 ranks in 2 nodes"),
            std::string::npos);
}

// Threads are one node; their rates are whatever this machine gives, but they are there.
TEST(RankLinks, RanksMeasureEachOther) {
  RankRates rates;
  run_ranks(3, [&](Communicator& communicator) {
    const RankRates own = measure_ranks(communicator, Effort::quick, 1);
    if (communicator.rank() == 0) rates = own;
  });
  EXPECT_EQ(rates.nodes, 1);
  EXPECT_EQ(rates.node_ranks, 3);
  EXPECT_EQ(rates.node.ranks, 3);
  EXPECT_GT(rates.near.latency_seconds, 0);
  EXPECT_GT(rates.near.bytes_per_second, 0);
  EXPECT_GT(rates.node.bytes_per_second, 0);
  EXPECT_GT(rates.node.start_seconds, 0);
  EXPECT_EQ(rates.far.bytes_per_second, 0);
}

TEST(RankLinks, RanksThatDifferAreTakenAsTheWeakest) {
  hardware::Device common;
  std::mutex guard;
  run_ranks(3, [&](Communicator& communicator) {
    const int rank = communicator.rank();
    hardware::Device own;
    own.name = "rank-" + std::to_string(rank);
    own.usable = Bytes((std::int64_t{8} - rank) << 30);
    own.peak_flops.bf16 = rank == 1 ? 1e11 : 3e11;
    own.memory_bandwidth_bytes_per_second = 1e10 * (1 + rank);
    const hardware::Device found = common_device(communicator, own);
    const std::lock_guard lock(guard);
    if (rank == 0) {
      common = found;
    } else {
      EXPECT_EQ(found.name, own.name);
    }
  });
  EXPECT_EQ(common.usable, Bytes(std::int64_t{6} << 30));
  EXPECT_DOUBLE_EQ(common.peak_flops.bf16, 1e11);
  EXPECT_DOUBLE_EQ(common.memory_bandwidth_bytes_per_second, 1e10);
}

}  // namespace
}  // namespace fourhold::engine
