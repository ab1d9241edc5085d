#include "fourhold/engine/tensor/counter_random.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace fourhold::engine {
namespace {

using Words4 = std::array<std::uint32_t, 4>;

// Known answers of Random123 (D. E. Shaw Research), file tests/kat_vectors, lines "philox4x32 10".
TEST(CounterRandom, PhiloxGivesThePublishedKnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words4{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words4{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words4{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

RC_GTEST_PROP(CounterRandom, FillingGivesWhatEachIndexGivesAlone, ()) {
  const CounterRandom random(*rc::gen::arbitrary<std::uint64_t>(), "w",
                             *rc::gen::inRange<std::uint64_t>(0, 1000));
  const auto first = *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 40);
  std::vector<std::uint32_t> values(*rc::gen::inRange<std::size_t>(0, 600));
  random.fill_uniform32(first, values);
  for (std::size_t i = 0; i < values.size(); ++i)
    RC_ASSERT(values[i] == random.uniform32(first + i));
}

// Counter words are 32 bits: the lower one of the block wraps at index 4 * 2^32.
TEST(CounterRandom, FillingCrossesTheWrapOfTheLowerCounterWord) {
  const CounterRandom random(3, "w");
  const std::uint64_t first = (std::uint64_t{4} << 32) - 301;
  std::vector<std::uint32_t> values(700);
  random.fill_uniform32(first, values);
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], random.uniform32(first + i));
  EXPECT_NE(random.uniform32(std::uint64_t{4} << 32), random.uniform32(0));
}

TEST(CounterRandom, SeedStreamAndStepEachChangeTheNumbers) {
  const CounterRandom base(1, "a", 1);
  for (const CounterRandom& other :
       {CounterRandom(2, "a", 1), CounterRandom(1, "b", 1), CounterRandom(1, "a", 2)}) {
    int equal = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) equal += base.uniform32(i) == other.uniform32(i);
    EXPECT_EQ(equal, 0);  // by chance in one of 4 million runs
    EXPECT_NE(base.normal(0), other.normal(0));
  }
}

// A bit is set in half of n numbers, give or take 4 standard deviations sqrt(n) / 2.
TEST(CounterRandom, EveryBitIsSetHalfTheTime) {
  constexpr int kDraws = 40000;
  std::vector<std::uint32_t> values(kDraws);
  CounterRandom(11, "bits").fill_uniform32(0, values);
  for (int bit = 0; bit < 32; ++bit) {
    int set = 0;
    for (const std::uint32_t value : values) set += static_cast<int>((value >> bit) & 1U);
    EXPECT_NEAR(set, kDraws / 2, 4 * std::sqrt(kDraws) / 2) << bit;
  }
}

// Moments of the normal distribution: mean 0, variance 1, third 0, fourth 3; their estimates from n
// draws vary by sqrt(1/n), sqrt(2/n), sqrt(15/n), sqrt(96/n).
TEST(CounterRandom, NormalNumbersHaveTheMomentsOfTheNormalDistribution) {
  constexpr int kDraws = 200000;
  const CounterRandom random(5, "normal");
  double sum1 = 0;
  double sum2 = 0;
  double sum3 = 0;
  double sum4 = 0;
  double neighbours = 0;
  double last = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double x = random.normal(i);
    sum1 += x;
    sum2 += x * x;
    sum3 += x * x * x;
    sum4 += x * x * x * x;
    neighbours += x * last;
    last = x;
  }
  EXPECT_NEAR(sum1 / kDraws, 0, 4 * std::sqrt(1.0 / kDraws));
  EXPECT_NEAR(sum2 / kDraws, 1, 4 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(sum3 / kDraws, 0, 4 * std::sqrt(15.0 / kDraws));
  EXPECT_NEAR(sum4 / kDraws, 3, 4 * std::sqrt(96.0 / kDraws));
  EXPECT_NEAR(neighbours / kDraws, 0, 4 * std::sqrt(1.0 / kDraws));
}

}  // namespace
}  // namespace fourhold::engine
