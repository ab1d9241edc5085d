#include "fourhold/hardware/link.h"

#include <gtest/gtest.h>

namespace fourhold::hardware {
namespace {

TEST(Link, ALinkWithoutBandwidthDoesNotExist) {
  EXPECT_FALSE(Link{}.exists());
  EXPECT_TRUE((Link{.name = "NVLink 3", .bytes_per_second = 300e9, .latency_seconds = 0}).exists());
}

}  // namespace
}  // namespace fourhold::hardware
