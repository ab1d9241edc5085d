#include "fourhold/hardware/device.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"

namespace fourhold::hardware {
namespace {

TEST(Device, ThePeakIsTheOneOfTheOperandType) {
  Device device;
  device.peak_flops = {
      .fp32 = 19.5e12, .tf32 = 156e12, .bf16 = 312e12, .fp16 = 311e12, .fp8 = 7e12};
  EXPECT_EQ(peak_flops(device, DType::fp32), 19.5e12);
  EXPECT_EQ(peak_flops(device, DType::bf16), 312e12);
  EXPECT_EQ(peak_flops(device, DType::fp16), 311e12);
  EXPECT_EQ(peak_flops(device, DType::fp8), 7e12);
}

TEST(Device, TypesThatNothingTrainsInHaveNoPeak) {
  Device device;
  device.peak_flops.fp32 = 1e12;
  EXPECT_EQ(peak_flops(device, DType::int32), 0);
  EXPECT_EQ(peak_flops(device, DType::nf4), 0);
}

TEST(Device, AFieldWithoutASourceHasAnEmptyOne) {
  Device device;
  device.sources.emplace_back("usable_bytes", "measured");
  EXPECT_EQ(device.source_of("usable_bytes"), "measured");
  EXPECT_EQ(device.source_of("host_link"), "");
}

TEST(Device, AMemoryOnlyDeviceHasItsMemoryAndNothingElse) {
  const Device device = memory_only_device(Bytes(24LL << 30));
  EXPECT_EQ(device.name, "memory of 24.00 GiB");
  EXPECT_EQ(device.usable.count(), 25769803776);  // 24 x 2^30
  EXPECT_EQ(device.nominal_gb, 25);               // 25.77e9 bytes
  EXPECT_EQ(device.peak_flops, PeakFlops{});
  EXPECT_FALSE(device.intra_node.exists());
  EXPECT_FALSE(device.price_usd_per_hour.has_value());
}

TEST(Device, AMemoryIsBoundedAsThatOfADeviceFile) {
  EXPECT_EQ(memory_only_device(kMostBytes).usable, kMostBytes);
  try {
    (void)memory_only_device(Bytes(INT64_MAX));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "of 8.00 EiB is more than 1.00 PiB");
    EXPECT_FALSE(error.hint().empty());
  }
}

}  // namespace
}  // namespace fourhold::hardware
