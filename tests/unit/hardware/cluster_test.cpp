#include "fourhold/hardware/cluster.h"

#include <string>

#include <gtest/gtest.h>

#include "fourhold/base/error.h"
#include "fourhold/hardware/catalogue.h"

namespace fourhold::hardware {
namespace {

Device built_in(const std::string& name) { return load_device(name).device; }

TEST(Cluster, EqualDevicesStandInNodesOfTheirOwnSize) {
  const Cluster cluster = uniform_cluster(built_in("h100-sxm-80gb"), 20);
  EXPECT_EQ(cluster.count, 20);
  EXPECT_EQ(cluster.devices_per_node, 8);
  EXPECT_EQ(cluster.node_count(), 3);  // 8 + 8 + 4
  EXPECT_TRUE(cluster.warnings.empty());
}

// huggingface/transformers issue 35636: two A100 40 GB and one 80 GB in one fully sharded group.
TEST(Cluster, UnequalDevicesArePlannedAsTheSmallestAndAWarningSaysSo) {
  const Cluster cluster =
      mixed_cluster({{built_in("a100-sxm-40gb"), 2}, {built_in("a100-sxm-80gb"), 1}});
  EXPECT_EQ(cluster.count, 3);
  EXPECT_NEAR(cluster.device.usable.gib(), 39.39, 0.005);
  ASSERT_EQ(cluster.warnings.size(), 1U);
  EXPECT_EQ(cluster.warnings[0],
            "the devices differ: 2 x a100-sxm-40gb (39.39 GiB), 1 x a100-sxm-80gb (79.25 GiB); "
            "shares are equal, so each is planned as the smallest, a100-sxm-40gb with 39.39 GiB");
}

TEST(Cluster, AMixtureCountsOnTheLeastOfEveryFact) {
  // The T4 has less memory and no bf16; the V100 has the slower PCIe of the two only by a tie.
  const Cluster cluster = mixed_cluster({{built_in("v100-sxm-32gb"), 4}, {built_in("t4"), 4}});
  EXPECT_EQ(cluster.device.name, "t4");
  EXPECT_EQ(cluster.device.peak_flops.fp16, 65e12);
  EXPECT_EQ(cluster.device.memory_bandwidth_bytes_per_second, 320e9);
  EXPECT_EQ(cluster.device.intra_node.bytes_per_second, 15.75e9);
  ASSERT_TRUE(cluster.device.price_usd_per_hour.has_value());
  EXPECT_NEAR(*cluster.device.price_usd_per_hour, (3.9015 + 0.526) / 2, 1e-9);  // the mean
}

TEST(Cluster, TheSameDeviceInTwoGroupsIsNoMixture) {
  const Cluster cluster = mixed_cluster({{built_in("l4"), 2}, {built_in("l4"), 3}});
  EXPECT_EQ(cluster.count, 5);
  EXPECT_TRUE(cluster.warnings.empty());
}

TEST(Cluster, ACountBelowOneIsRefused) {
  try {
    (void)uniform_cluster(built_in("t4"), 0);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "count");
    EXPECT_STREQ(error.what(), "is 0; a cluster has at least 1 device");
    EXPECT_EQ(error.hint(), "the nearest valid value is 1");
  }
}

TEST(Cluster, NoGroupIsRefused) { EXPECT_THROW((void)mixed_cluster({}), Error); }

}  // namespace
}  // namespace fourhold::hardware
