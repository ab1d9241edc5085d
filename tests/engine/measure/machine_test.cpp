#include "fourhold/engine/measure/machine.h"

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fourhold/base/json.h"
#include "fourhold/engine/measure/kernel_rates.h"
#include "fourhold/engine/measure/timing.h"
#include "fourhold/hardware/device_file.h"
#include "tests/tested_isa/tested_isa.h"

namespace fourhold::engine {
namespace {

// A clock that the timed calls themselves move on: 9 s for the first, then 1, 50, 2, 3 ...
double fake_now = 0;
double fake_clock() { return fake_now; }

TEST(Timing, TakesTheMedianAndLeavesTheFirstCallOut) {
  constexpr std::array kSeconds{9.0, 1.0, 50.0, 2.0};
  std::size_t calls = 0;
  fake_now = 0;
  const double seconds = median_seconds(
      Effort::quick, [&] { fake_now += kSeconds.at(calls++); }, fake_clock);
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(seconds, 2);
}

TEST(Timing, RunsTakeTurns) {
  std::string order;
  fake_now = 0;
  const std::vector<std::function<void()>> runs{[&] {
                                                  order += 'a';
                                                  fake_now += 1;
                                                },
                                                [&] {
                                                  order += 'b';
                                                  fake_now += 4;
                                                }};
  const std::vector<double> seconds = median_seconds_in_turn(Effort::quick, runs, fake_clock);
  EXPECT_EQ(order, "abababab");
  EXPECT_EQ(seconds, (std::vector<double>{1, 4}));
}

TEST(Timing, ShortCallsAreRepeatedUntilTheyAddUp) {
  std::size_t calls = 0;
  fake_now = 0;
  (void)median_seconds(
      Effort::thorough,
      [&] {
        ++calls;
        fake_now += 0.015625;
      },
      fake_clock);
  EXPECT_EQ(calls, 1 + 20);  // 20 x 1/64 s is the first sum of at least 0.3
}

TEST(Machine, IsADeviceFileThatReadsBack) {
  constexpr std::array kComputes{DType::bf16, DType::fp32};
  const hardware::Device device =
      measure_machine({"Some CPU (TM) 9000", Bytes(std::int64_t{1} << 33)}, kComputes,
                      {.threads = 1, .isa = testing::tested_isa()}, Effort::quick);
  EXPECT_EQ(device.name, "some-cpu-tm-9000-1-threads");
  EXPECT_EQ(device.usable, Bytes(std::int64_t{1} << 33));
  const hardware::Device read =
      hardware::parse_device(json::write(hardware::device_json(device)), "machine.json");
  EXPECT_EQ(read.sustained, device.sustained);
  EXPECT_EQ(read.sustained_fp32, device.sustained_fp32);
  EXPECT_EQ(read.peak_flops, device.peak_flops);
  // A 64-bit core since 2003 multiplies more than 10^8 numbers a second, and none 10^14.
  for (const double peak : {device.peak_flops.bf16, device.peak_flops.fp32}) {
    EXPECT_GT(peak, 1e8);
    EXPECT_LT(peak, 1e14);
  }
  EXPECT_LE(device.sustained.matmul, 1);
}

TEST(Machine, OneTypeAloneLeavesTheOtherUnknown) {
  constexpr std::array kComputes{DType::fp32};
  const hardware::Device device = measure_machine(
      {"x", Bytes(1)}, kComputes, {.threads = 1, .isa = testing::tested_isa()}, Effort::quick);
  EXPECT_EQ(device.peak_flops.bf16, 0);
  EXPECT_GT(device.peak_flops.fp32, 0);
}

}  // namespace
}  // namespace fourhold::engine
