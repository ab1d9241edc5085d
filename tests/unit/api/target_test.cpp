#include "fourhold/api/target.h"

#include <gtest/gtest.h>

#include "tests/unit/api/expect_error.h"
#include "tests/unit/api/test_folder.h"

namespace fourhold::api {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

TEST(Target, IsNothingWhereNeitherDeviceNorMemoryIsNamed) {
  EXPECT_FALSE(load_target({}).has_value());
}

TEST(Target, AMemoryAloneIsADevice) {
  const auto target = load_target({.memory = Bytes(24 * kGiB)});
  ASSERT_TRUE(target);
  EXPECT_EQ(target->cluster.device.usable, Bytes(24 * kGiB));
}

TEST(Target, AMemoryBesideADeviceStandsForItsOwnAndIsNoted) {
  const auto target = load_target({.device = "t4", .memory = Bytes(8 * kGiB)});
  EXPECT_EQ(target->cluster.device.usable, Bytes(8 * kGiB));
  EXPECT_EQ(target->cluster.device.name, "t4");
  ASSERT_FALSE(target->notes.empty());
  EXPECT_TRUE(holds(target->notes.back(), "8.00 GiB"));
}

TEST(Target, OfUnequalDevicesTheSmallestDecides) {
  const auto target = load_target({.device = "2xt4,a100-sxm-80gb"});
  EXPECT_EQ(target->listed, 3);
  EXPECT_EQ(target->cluster.device.usable, load_target({.device = "t4"})->cluster.device.usable);
  EXPECT_TRUE(holds(target->notes.front(), "the devices differ"));
}

TEST(Target, RefusesAnEmptyPartOfAList) {
  for (const char* list : {"t4,", ",t4", "t4,,t4"}) {
    EXPECT_EQ(refusal_of([&] { static_cast<void>(load_target({.device = list})); }).where,
              "--device")
        << list;
  }
}

TEST(Target, RefusesAnUnknownDeviceWithTheNearestName) {
  EXPECT_TRUE(holds(refusal_of([] { static_cast<void>(load_target({.device = "rtx-4091"})); }).hint,
                    "rtx-4090"));
}

TEST(Target, TheDevicesOfANodeShareItsHostMemory) {
  const TestFolder folder;
  const std::string file = folder.write("four.json", R"({
    "name": "four", "usable_bytes": "8GiB", "devices_per_node": 4,
    "peak_flops": {"fp32": 1e12, "bf16": 1e12}, "memory_bandwidth_bytes_per_second": 1e9,
    "intra_node": {"name": "x", "bytes_per_second": 1e9, "latency_seconds": 1e-6}})");
  const TargetRequest request{.device = file, .host_memory = Bytes(800)};
  const auto target = load_target(request);
  EXPECT_EQ(capacity_of(*target, request, 2).host_bytes, Bytes(400));   // two share it
  EXPECT_EQ(capacity_of(*target, request, 16).host_bytes, Bytes(200));  // four nodes of four
}

TEST(Target, AHostMemoryNobodyKnowsIsNotChecked) {
  const TargetRequest request{.memory = Bytes(kGiB)};
  EXPECT_FALSE(capacity_of(*load_target(request), request, 1).host_bytes.has_value());
}

TEST(Target, KeepsTheAskedShareFree) {
  const TargetRequest request{.memory = Bytes(kGiB), .headroom = 0.25};
  EXPECT_EQ(capacity_of(*load_target(request), request, 1).headroom, 0.25);
}

TEST(Target, ExactDevicesAreThoseOfTheCatalogue) {
  EXPECT_EQ(exact_devices("h100"), "h100-sxm-80gb");
  EXPECT_EQ(exact_devices("2xh100,t4"), "2xh100-sxm-80gb,t4");
  EXPECT_TRUE(load_target({.device = exact_devices("h100")})->notes.empty());
  const TestFolder folder;
  const std::string file = folder.write("mine.json", "{}");  // named as it is, whatever it holds
  EXPECT_EQ(exact_devices(file), file);
}

}  // namespace
}  // namespace fourhold::api
