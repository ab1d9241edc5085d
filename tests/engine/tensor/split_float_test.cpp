#include "fourhold/engine/tensor/split_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace fourhold::engine {
namespace {

float from_bits(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// All 65536 upper halves (NaN and infinity too) with lower halves around every place where the
// rounding turns.
TEST(SplitFloat, GivesEveryBitPatternBack) {
  for (std::uint32_t high = 0; high < 0x10000U; ++high) {
    for (const std::uint32_t low : {0U, 1U, 2U, 0x00ffU, 0x4000U, 0x7ffeU, 0x7fffU, 0x8000U,
                                    0x8001U, 0x8002U, 0xaaaaU, 0xc000U, 0xfffeU, 0xffffU}) {
      const std::uint32_t bits = (high << 16) | low;
      ASSERT_EQ(bits_of(join(split(from_bits(bits)))), bits) << std::hex << bits;
    }
  }
}

// Some upper halves with every lower half.
TEST(SplitFloat, GivesEveryLowerHalfBack) {
  for (const std::uint32_t high : {0x0000U, 0x007fU, 0x3f7fU, 0x3f80U, 0x7f7fU, 0x8000U, 0xbf80U}) {
    for (std::uint32_t low = 0; low < 0x10000U; ++low) {
      const std::uint32_t bits = (high << 16) | low;
      ASSERT_EQ(bits_of(join(split(from_bits(bits)))), bits) << std::hex << bits;
    }
  }
}

// 1 + 2^-8 lies halfway between 1 and 1 + 2^-7; to even it would go down.
TEST(SplitFloat, RoundsTiesAwayFromZero) {
  const float tie = 1 + std::ldexp(1.0F, -8);
  EXPECT_EQ(to_float(to_bf16_ties_away(tie)), 1 + std::ldexp(1.0F, -7));
  EXPECT_EQ(to_float(to_bf16_ties_away(-tie)), -1 - std::ldexp(1.0F, -7));
  EXPECT_EQ(to_float(to_bf16_ties_away(1 + std::ldexp(1.0F, -8) - std::ldexp(1.0F, -20))), 1);
}

// The largest bf16 is 0x7f7f; half a step above it is 0x7f7f8000.
TEST(SplitFloat, BecomesInfiniteFromHalfAStepAboveTheLargestBf16) {
  EXPECT_TRUE(std::isinf(to_float(split(from_bits(0x7f7f8000U)).weight)));
  EXPECT_FALSE(std::isinf(to_float(split(from_bits(0x7f7f7fffU)).weight)));
}

}  // namespace
}  // namespace fourhold::engine
