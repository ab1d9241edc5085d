#include "fourhold/engine/checkpoint/element_copy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace fourhold::engine {
namespace {

float from_half(std::uint16_t bits) {
  float value = 0;
  copy_elements({reinterpret_cast<const std::byte*>(&bits), DType::fp16, 1},
                {reinterpret_cast<std::byte*>(&value), DType::fp32, 1}, 1, 1);
  return value;
}

std::uint16_t to_bf16_bits(float value) {
  std::uint16_t bits = 0;
  copy_elements({reinterpret_cast<const std::byte*>(&value), DType::fp32, 1},
                {reinterpret_cast<std::byte*>(&bits), DType::bf16, 1}, 1, 1);
  return bits;
}

// IEEE 754-2008, table 3.5: binary16.
TEST(ElementCopy, ReadsHalfPrecision) {
  EXPECT_EQ(from_half(0x3c00), 1.0F);
  EXPECT_EQ(from_half(0xc000), -2.0F);
  EXPECT_EQ(from_half(0x7bff), 65504.0F);
  EXPECT_EQ(from_half(0x0400), std::ldexp(1.0F, -14));  // the least normal
  EXPECT_EQ(from_half(0x0001), std::ldexp(1.0F, -24));  // the least subnormal
  EXPECT_EQ(from_half(0x03ff), std::ldexp(1023.0F, -24));
  EXPECT_EQ(from_half(0x7c00), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(from_half(0x7e00)));
  EXPECT_TRUE(std::signbit(from_half(0x8000)));
  EXPECT_EQ(from_half(0x8000), 0.0F);
}

// bf16 has 7 fraction bits: at 1 the spacing is 2^-7, and ties go to the even neighbour.
TEST(ElementCopy, RoundsToTheNearestBf16WithTiesToEven) {
  EXPECT_EQ(to_bf16_bits(1.0F), 0x3f80);
  EXPECT_EQ(to_bf16_bits(1.0F + 0x1p-8F), 0x3f80);
  EXPECT_EQ(to_bf16_bits(1.0F + 0x3p-8F), 0x3f82);
  EXPECT_EQ(to_bf16_bits(1.0F + 0x1p-8F + 0x1p-20F), 0x3f81);
}

TEST(ElementCopy, SaysWhichTypesConvert) {
  EXPECT_TRUE(can_convert(DType::fp16, DType::bf16));
  EXPECT_TRUE(can_convert(DType::int16, DType::int16));
  EXPECT_FALSE(can_convert(DType::fp32, DType::fp16));
  EXPECT_FALSE(can_convert(DType::int32, DType::fp32));
}

RC_GTEST_PROP(ElementCopy, TurningAMatrixPutsEveryElementWhereItBelongs, ()) {
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 70);
  const auto columns = *rc::gen::inRange<std::int64_t>(1, 70);
  std::vector<std::uint32_t> from(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint32_t>(i);
  std::vector<std::uint32_t> to(from.size());
  copy_elements({reinterpret_cast<const std::byte*>(from.data()), DType::fp32, columns, 1},
                {reinterpret_cast<std::byte*>(to.data()), DType::fp32, 1, rows}, rows, columns);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      RC_ASSERT(to[static_cast<std::size_t>(c * rows + r)] ==
                from[static_cast<std::size_t>(r * columns + c)]);
    }
  }
}

TEST(ElementCopy, EqualTypesKeepEveryBit) {
  const std::vector<std::uint32_t> from{0x7fa00001, 0x80000000, 0x00000001, 0xffffffff};
  std::vector<std::uint32_t> to(4);
  copy_elements({reinterpret_cast<const std::byte*>(from.data()), DType::fp32, 4},
                {reinterpret_cast<std::byte*>(to.data()), DType::fp32, 4}, 1, 4);
  EXPECT_EQ(from, to);
}

}  // namespace
}  // namespace fourhold::engine
