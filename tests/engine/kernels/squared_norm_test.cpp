#include "fourhold/engine/kernels/squared_norm.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/engine/kernels/support.h"

namespace fourhold::engine {
namespace {

TEST(SquaredNorm, EqualsTheSumInDoublesForAnyNumberOfThreads) {
  for (const Isa isa : isas()) {
    for (const DType dtype : kComputeTypes) {
      for (const std::int64_t size : {1, 3, 17, 65, 129, 511, 512, 513, 10'000}) {
        Values x = random_values(dtype, {size}, 1);
        const std::vector<double> values = x.doubles();
        const double found = squared_norm(x.tensor(), {1, isa});
        EXPECT_NEAR(found, dot(values, values), 1e-12 * found);
        for (const int threads : {2, 3}) {
          EXPECT_EQ(squared_norm(x.tensor(), {threads, isa}), found);
        }
      }
    }
  }
}

TEST(SquaredNorm, SquaresBeyondFp32AreSummedAndInfinityIsSeen) {
  for (const Isa isa : isas()) {
    Values x(DType::fp32, {100});
    for (std::int64_t i = 0; i < 100; ++i) x.set(i, 1e30);
    const double square = static_cast<double>(1e30F) * static_cast<double>(1e30F);
    EXPECT_NEAR(squared_norm(x.tensor(), {1, isa}), 100 * square, 1e-12 * 100 * square);
    x.set(99, std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isinf(squared_norm(x.tensor(), {1, isa})));
    x.set(50, std::numeric_limits<double>::quiet_NaN());
    EXPECT_TRUE(std::isnan(squared_norm(x.tensor(), {1, isa})));
  }
}

}  // namespace
}  // namespace fourhold::engine
