#include "fourhold/engine/tensor/bf16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fourhold::engine {
namespace {

TEST(Bf16, KeepsEveryValueOfItsOwn) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const Bf16 value{static_cast<std::uint16_t>(bits)};
    if (std::isnan(to_float(value))) {
      EXPECT_TRUE(std::isnan(to_float(to_bf16(to_float(value)))));
    } else {
      EXPECT_EQ(to_bf16(to_float(value)), value);
    }
  }
}

// 1 + 2^-8 lies halfway between 1 (even) and 1 + 2^-7; 1 + 3 2^-8 between odd 1 + 2^-7 and even
// 1 + 2^-6.
TEST(Bf16, RoundsTiesToEven) {
  EXPECT_EQ(to_float(to_bf16(1 + std::ldexp(1.0F, -8))), 1);
  EXPECT_EQ(to_float(to_bf16(1 + 3 * std::ldexp(1.0F, -8))), 1 + std::ldexp(1.0F, -6));
  EXPECT_EQ(to_float(to_bf16(1 + std::ldexp(1.0F, -8) + std::ldexp(1.0F, -20))),
            1 + std::ldexp(1.0F, -7));
}

// The largest fp32 lies above the largest bf16 (0x7f7f) by more than half a step.
TEST(Bf16, RoundsWhatIsTooLargeToInfinity) {
  EXPECT_TRUE(std::isinf(to_float(to_bf16(std::numeric_limits<float>::max()))));
}

}  // namespace
}  // namespace fourhold::engine
