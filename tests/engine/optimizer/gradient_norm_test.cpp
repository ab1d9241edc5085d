#include "fourhold/engine/optimizer/gradient_norm.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "fourhold/engine/tensor/counter_random.h"

namespace fourhold::engine {
namespace {

template <typename T>
Tensor view(std::vector<T>& values, std::size_t begin, std::size_t end) {
  return {reinterpret_cast<std::byte*>(values.data() + begin), kDTypeOf<T>,
          Dims{static_cast<std::int64_t>(end - begin)}};
}
template <typename T>
Tensor view(std::vector<T>& values) {
  return view(values, 0, values.size());
}

TEST(GradientNorm, ThreeAndFourMakeFive) {
  std::vector<float> values{3, 0, -4};
  const SquaredNorm norm = squared_norm(view(values), 1);
  EXPECT_EQ(norm.value(), 25);
  EXPECT_EQ(norm.largest, 4);
  EXPECT_EQ(norm.nonfinite, 0);
  std::vector<float> none;
  EXPECT_EQ(squared_norm(view(none), 2).value(), 0);
}

TEST(GradientNorm, Bf16CountsAsTheSameValues) {
  std::vector<Bf16> values(1000, to_bf16(-0.5F));
  EXPECT_EQ(squared_norm(view(values), 2).value(), 250);
  EXPECT_EQ(squared_norm(view(values), 2).largest, 0.5F);
}

// Squares from 2^-100 to 2^100: a plain sum in double would lose the small ones, a long double one
// of 64 bits too, so the expected sum is put together by hand: 2^100 + 2^20 * 2^-20 = 2^100 + 1,
// which rounds to 2^100, and less 2^100 leaves the 1.
TEST(GradientNorm, KeepsWhatRoundingWouldLose) {
  std::vector<float> values((1U << 20) + 1, 0x1p-10F);
  values[12345] = 0x1p50F;
  const SquaredNorm norm = squared_norm(view(values), 2);
  EXPECT_EQ((norm.sum - 0x1p100) + norm.error, 1);
}

// Compared with all 106 bits, not only the double.
RC_GTEST_PROP(GradientNorm, ThreadsDoNotChangeABitAndCutsDoNotChangeTheDouble, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 12000);
  const auto cut = *rc::gen::inRange<std::size_t>(0, count + 1);
  const auto threads = *rc::gen::inRange(2, 4);
  std::vector<float> values(count);
  const CounterRandom random(*rc::gen::arbitrary<std::uint64_t>(), "g");
  long double expected = 0;
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = random.normal(i);
    expected += static_cast<long double>(values[i]) * values[i];
  }
  const SquaredNorm one = squared_norm(view(values), 1);
  const SquaredNorm many = squared_norm(view(values), threads);
  RC_ASSERT(one.sum == many.sum);
  RC_ASSERT(one.error == many.error);
  SquaredNorm parts = squared_norm(view(values, 0, cut), threads);
  parts += squared_norm(view(values, cut, count), 1);
  RC_ASSERT(parts.value() == one.value());
  RC_ASSERT(parts.largest == one.largest);
  RC_ASSERT(std::abs(static_cast<double>(expected - one.value())) <= 1e-15 * one.value());
}

TEST(GradientNorm, CountsValuesThatAreNotFiniteWhereverTheyStand) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const std::size_t at : {0U, 7U, 4096U, 9998U}) {
    std::vector<float> values(10000, 1);
    values[at] = infinity;
    values[5000] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(squared_norm(view(values), 2).nonfinite, 2);
    std::vector<Bf16> halves(10000, to_bf16(1));
    halves[at] = to_bf16(-infinity);
    EXPECT_EQ(squared_norm(view(halves), 2).nonfinite, 1);
  }
}

TEST(GradientNorm, TheLargestFiniteGradientsHaveAFiniteNorm) {
  std::vector<float> values(1000, std::numeric_limits<float>::max());
  const SquaredNorm norm = squared_norm(view(values), 1);
  EXPECT_EQ(norm.nonfinite, 0);
  EXPECT_TRUE(std::isfinite(norm.value()));
}

// max_norm / (norm + 1e-6), never above 1.
TEST(GradientNorm, ClippingScalesDownToTheLimitOnly) {
  EXPECT_DOUBLE_EQ(clip_coefficient(16, 1), 1 / (4 + 1e-6));
  EXPECT_EQ(clip_coefficient(0.25, 1), 1);
  EXPECT_EQ(clip_coefficient(0, 1), 1);
  EXPECT_EQ(clip_coefficient(1e12, 0), 1);
}

}  // namespace
}  // namespace fourhold::engine
