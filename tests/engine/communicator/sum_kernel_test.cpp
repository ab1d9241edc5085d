#include "fourhold/engine/communicator/sum_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "fourhold/engine/tensor/bf16.h"

namespace fourhold::engine {
namespace {

// Every bf16 that is finite, plus a half of its last place more: ties to even, as to_bf16 does it.
TEST(AddSources, RoundsAsTheScalarConversion) {
  std::vector<float> low(1U << 16);
  std::vector<float> high(1U << 16);
  std::vector<Bf16> sums(1U << 16);
  for (std::uint32_t i = 0; i < low.size(); ++i) {
    low[i] = to_float(Bf16{static_cast<std::uint16_t>(i)});
    high[i] = low[i] * 0x1p-8F;
  }
  const std::vector<const std::byte*> sources{reinterpret_cast<const std::byte*>(low.data()),
                                              reinterpret_cast<const std::byte*>(high.data())};
  add_sources({sources, DType::fp32, reinterpret_cast<std::byte*>(sums.data()), DType::bf16,
               static_cast<std::int64_t>(sums.size())},
              Sum::replace, 2);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const float exact = low[i] + high[i];
    if (std::isnan(exact)) {
      EXPECT_TRUE(std::isnan(to_float(sums[i])));
    } else {
      EXPECT_EQ(sums[i], to_bf16(exact)) << low[i];
    }
  }
}

TEST(AddSources, TakesInWhatWasThereLast) {
  // ((1 + 2^-24) is 1) + 2^24, while 2^24 + 1 first would lose the 1.
  std::vector<float> one(37, 1.0F);
  std::vector<float> to(37, 0x1p24F);
  const std::vector<const std::byte*> sources{reinterpret_cast<const std::byte*>(one.data()),
                                              reinterpret_cast<const std::byte*>(one.data())};
  add_sources({sources, DType::fp32, reinterpret_cast<std::byte*>(to.data()), DType::fp32, 37},
              Sum::accumulate, 1);
  for (const float value : to) EXPECT_EQ(value, 0x1p24F + 2);
}

}  // namespace
}  // namespace fourhold::engine
