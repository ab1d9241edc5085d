#include "fourhold/hardware/device_file.h"

#include <string>

#include <gtest/gtest.h>

#include "fourhold/base/error.h"
#include "fourhold/hardware/catalogue.h"

namespace fourhold::hardware {
namespace {

constexpr const char* kSmallest = R"({
  "name": "box",
  "usable_bytes": 1000,
  "peak_flops": {"fp32": 1e12},
  "memory_bandwidth_bytes_per_second": 2e9
})";

// The smallest file with `from` replaced by `to`.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = kSmallest;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

struct Fault {
  std::string where;
  std::string what;
  std::string hint;
};

Fault fault_of(const std::string& text) {
  try {
    (void)parse_device(text, "my.json");
  } catch (const Error& error) {
    return {error.where(), error.what(), error.hint()};
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

TEST(DeviceFile, FourFieldsAreEnough) {
  const Device device = parse_device(kSmallest, "my.json");
  EXPECT_EQ(device.name, "box");
  EXPECT_EQ(device.usable.count(), 1000);
  EXPECT_EQ(device.peak_flops.fp32, 1e12);
  EXPECT_EQ(device.peak_flops.bf16, 0);
  EXPECT_EQ(device.devices_per_node, 1);
  EXPECT_EQ(device.compute_capability, 0);
  EXPECT_FALSE(device.inter_node.exists());
  EXPECT_FALSE(device.price_usd_per_hour.has_value());
}

TEST(DeviceFile, WhatASilentFileSustainsIsStatedInOnePlace) {
  const Device device = parse_device(kSmallest, "my.json");
  EXPECT_EQ(device.sustained, SustainedShares{});
  EXPECT_GT(device.sustained.attention.flash_2, 0);
}

TEST(DeviceFile, SharesOfThePeaksAreRead) {
  const Device device = parse_device(
      changed("\"name\"",
              R"("sustained": {"matmul": 0.6, "memory": 0.8, "attention": {"flash_3": 0.5},)"
              R"("kernel_start_seconds": 1e-6}, "name")"),
      "my.json");
  EXPECT_EQ(device.sustained.matmul, 0.6);
  EXPECT_EQ(device.sustained.memory, 0.8);
  EXPECT_EQ(device.sustained.attention.flash_3, 0.5);
  EXPECT_EQ(device.sustained.attention.flash_2, 0);  // not listed: not known
  EXPECT_EQ(device.sustained.kernel_start_seconds, 1e-6);
}

TEST(DeviceFile, WhatAMeasuredMachineSustainsIsWrittenAndReadBack) {
  Device device = parse_device(kSmallest, "my.json");
  EXPECT_FALSE(device.sustained_fp32.has_value());
  EXPECT_EQ(device.sustained.attention.backward, 0.85);
  device.sustained.elementwise = 0.7;
  device.sustained.update = 1.8;
  device.sustained.narrow_matmul = 0.25;
  device.sustained.matmul_bytes_per_flop = 0.5;
  device.sustained.narrow_bytes_per_flop = 2;
  device.sustained_fp32 = SustainedShares{};
  device.sustained_fp32->matmul = 0.9;
  device.sustained_fp32->attention.backward = 1.1;
  const Device read = parse_device(json::write(device_json(device)), "written");
  EXPECT_EQ(read.sustained, device.sustained);
  EXPECT_EQ(read.sustained_fp32, device.sustained_fp32);
}

TEST(DeviceFile, AShareAboveThePeakIsRefused) {
  const Fault fault = fault_of(changed("\"name\"", R"("sustained": {"matmul": 1.2}, "name")"));
  EXPECT_EQ(fault.where, "my.json: sustained.matmul");
}

TEST(DeviceFile, NarrowProductsNeedTheirWidth) {
  const Fault fault =
      fault_of(changed("\"name\"", R"("sustained": {"narrow_matmul": 0.5}, "name")"));
  EXPECT_EQ(fault.where, "my.json: sustained.narrow_bytes_per_flop");
}

TEST(DeviceFile, AttentionNeedsAFusedKernel) {
  const Fault fault =
      fault_of(changed("\"name\"", R"("sustained": {"attention": {"unfused": 0.5}}, "name")"));
  EXPECT_EQ(fault.where, "my.json: sustained.attention");
  EXPECT_EQ(fault.what, "has no share of a fused kernel");
}

TEST(DeviceFile, ALinkStatesWhatItSustainsAndHowItStarts) {
  const Device device = parse_device(
      changed("\"name\"", R"("inter_node": {"name": "wire", "bytes_per_second": 1e9, "share": 0.5,)"
                          R"("start_seconds": 2e-5, "hop_seconds": 1e-6}, "name")"),
      "my.json");
  EXPECT_EQ(device.inter_node.sustained_bytes_per_second(), 5e8);
  EXPECT_EQ(device.inter_node.start_seconds, 2e-5);
  EXPECT_EQ(device.inter_node.hop_seconds, 1e-6);
}

TEST(DeviceFile, SizesMayBeWrittenWithAUnit) {
  const Device device = parse_device(changed("1000", "\"23.5GiB\""), "my.json");
  EXPECT_EQ(device.usable.count(), 25232932864);  // 23.5 x 2^30
  EXPECT_EQ(device.nominal_gb, 25);               // nearest GB when it is not given
}

TEST(DeviceFile, EveryBuiltInDeviceSurvivesWritingAndReading) {
  for (const EmbeddedFile& file : embedded_devices()) {
    const Device device = parse_device(file.text, std::string(file.name));
    const std::string text = json::write(device_json(device));
    const Device again = parse_device(text, "written");
    EXPECT_EQ(json::write(device_json(again)), text) << file.name;
    EXPECT_EQ(again.usable, device.usable) << file.name;
    EXPECT_EQ(again.peak_flops, device.peak_flops) << file.name;
    EXPECT_EQ(again.compute_capability, device.compute_capability) << file.name;
    EXPECT_EQ(again.intra_node, device.intra_node) << file.name;
    EXPECT_EQ(again.sustained, device.sustained) << file.name;
    EXPECT_EQ(again.host_link, device.host_link) << file.name;
    EXPECT_EQ(again.price_usd_per_hour, device.price_usd_per_hour) << file.name;
    EXPECT_EQ(again.sources, device.sources) << file.name;
  }
}

TEST(DeviceFile, AMissingNameIsNamed) {
  const Fault fault = fault_of(changed("\"name\": \"box\",", ""));
  EXPECT_EQ(fault.where, "my.json: name");
  EXPECT_EQ(fault.what, "is missing");
}

TEST(DeviceFile, AnEmptyNameIsRefused) { EXPECT_EQ(fault_of(changed("box", "")).what, "is empty"); }

TEST(DeviceFile, MissingMemoryIsNamedWithAnExample) {
  const Fault fault = fault_of(changed("\"usable_bytes\": 1000,", ""));
  EXPECT_EQ(fault.where, "my.json: usable_bytes");
  EXPECT_NE(fault.hint.find("23.7GiB"), std::string::npos);
}

TEST(DeviceFile, MemoryOfNothingIsRefused) {
  const Fault fault = fault_of(changed("1000", "0"));
  EXPECT_EQ(fault.where, "my.json: usable_bytes");
  EXPECT_EQ(fault.hint, "the nearest valid value is 1");
}

TEST(DeviceFile, MemoryBeyondAnyDeviceIsRefusedInEitherSpelling) {
  EXPECT_EQ(fault_of(changed("1000", "9000000000000000000")).where, "my.json: usable_bytes");
  EXPECT_EQ(fault_of(changed("1000", "\"2PiB\"")).where, "my.json: usable_bytes");
}

TEST(DeviceFile, MissingPeaksAreNamedWithAnExample) {
  const Fault fault = fault_of(changed("\"peak_flops\": {\"fp32\": 1e12},", ""));
  EXPECT_EQ(fault.where, "my.json: peak_flops");
  EXPECT_NE(fault.hint.find("312e12"), std::string::npos);
}

TEST(DeviceFile, PeaksOfNothingAreRefused) {
  EXPECT_EQ(fault_of(changed("1e12", "0")).what, "has no rate above 0");
}

TEST(DeviceFile, ANegativePeakIsRefusedWithItsPath) {
  EXPECT_EQ(fault_of(changed("1e12", "-1")).where, "my.json: peak_flops.fp32");
}

TEST(DeviceFile, AnUnknownFieldIsRefusedWithTheNearestName) {
  const Fault fault = fault_of(changed("\"name\"", "\"devices_per_nod\": 4, \"name\""));
  EXPECT_EQ(fault.where, "my.json: devices_per_nod");
  EXPECT_EQ(fault.what, "is not a known field");
  EXPECT_NE(fault.hint.find("devices_per_node"), std::string::npos);
}

TEST(DeviceFile, AnUnknownFieldInsideALinkIsRefused) {
  const Fault fault = fault_of(changed(
      "\"name\"", R"("intra_node": {"name": "x", "bytes_per_second": 1, "latency": 2}, "name")"));
  EXPECT_EQ(fault.where, "my.json: intra_node.latency");
  EXPECT_NE(fault.hint.find("latency_seconds"), std::string::npos);
}

TEST(DeviceFile, ALinkNeedsItsRate) {
  EXPECT_EQ(fault_of(changed("\"name\"", R"("intra_node": {"name": "x"}, "name")")).where,
            "my.json: intra_node.bytes_per_second");
}

TEST(DeviceFile, SeveralDevicesPerNodeNeedALink) {
  const Fault fault = fault_of(changed("\"name\"", "\"devices_per_node\": 8, \"name\""));
  EXPECT_EQ(fault.where, "my.json: intra_node");
  EXPECT_EQ(fault.what, "is missing, but devices_per_node is 8");
}

TEST(DeviceFile, ASourceOfAnUnknownFieldIsRefused) {
  const Fault fault = fault_of(changed("\"name\"", R"("sources": {"peak_flop": "x"}, "name")"));
  EXPECT_EQ(fault.where, "my.json: sources.peak_flop");
  EXPECT_NE(fault.hint.find("peak_flops"), std::string::npos);
}

TEST(DeviceFile, ASourceThatIsNoTextIsRefused) {
  EXPECT_EQ(fault_of(changed("\"name\"", R"("sources": {"peak_flops": 1}, "name")")).where,
            "my.json: sources.peak_flops");
}

TEST(DeviceFile, ADocumentThatIsNoObjectIsRefused) {
  EXPECT_EQ(fault_of("[]").where, "my.json");
  EXPECT_THROW((void)parse_device("", "my.json"), Error);
}

TEST(DeviceFile, AMissingFileIsNamed) {
  try {
    (void)read_device_file("/nonexistent/device.json");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "/nonexistent/device.json");
    EXPECT_STREQ(error.what(), "does not exist");
  }
}

}  // namespace
}  // namespace fourhold::hardware
