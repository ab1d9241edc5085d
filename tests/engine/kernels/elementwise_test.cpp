#include "fourhold/engine/kernels/elementwise.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "tests/engine/kernels/support.h"

namespace fourhold::engine {
namespace {

// What a tensor of the type holds after one rounding of an fp32 result.
double rounded(DType dtype, double value) {
  const auto wide = static_cast<float>(value);
  return dtype == DType::bf16 ? to_float(to_bf16(wide)) : wide;
}

TEST(Elementwise, SumsAreRoundedOnce) {
  for (const Isa isa : isas()) {
    for (const DType dtype : kComputeTypes) {
      for (const std::int64_t size : {1, 3, 17, 65, 129, 1000}) {
        Values a = random_values(dtype, {size}, 1);
        Values b = random_values(dtype, {size}, 2);
        Values sum(dtype, {size});
        add(a.tensor(), b.tensor(), sum.tensor(), {3, isa});
        for (std::int64_t i = 0; i < size; ++i) {
          ASSERT_EQ(sum[i], rounded(dtype, a[i] + b[i]));
        }
        add(a.tensor(), b.tensor(), a.tensor(), {1, isa});
        EXPECT_EQ(a, sum);
      }
    }
  }
}

TEST(Elementwise, CastsAndAccumulationsWorkBetweenAnyTwoTypes) {
  for (const Isa isa : isas()) {
    for (const DType from : kComputeTypes) {
      for (const DType to : kComputeTypes) {
        Values x = random_values(from, {131}, 1);
        Values y(to, {131});
        cast(x.tensor(), y.tensor(), {2, isa});
        Values total = random_values(to, {131}, 2);
        const Values before = total;
        accumulate(x.tensor(), total.tensor(), {2, isa});
        for (std::int64_t i = 0; i < 131; ++i) {
          ASSERT_EQ(y[i], rounded(to, x[i]));
          ASSERT_EQ(total[i], rounded(to, before[i] + x[i]));
        }
      }
    }
  }
}

// Ties, infinities, the largest numbers, denormals and NaN, as the scalar conversion rounds them.
TEST(Elementwise, VectorsRoundToBf16AsScalarsDo) {
  std::vector<float> cases{0.0F,
                           -0.0F,
                           1.00390625F,
                           1.01171875F,
                           -1.00390625F,
                           std::numeric_limits<float>::max(),
                           std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::denorm_min(),
                           std::numeric_limits<float>::quiet_NaN(),
                           -std::numeric_limits<float>::quiet_NaN(),
                           1e-40F,
                           3.14159274F};
  for (const Isa isa : isas()) {
    std::vector<float> x;
    for (int times = 0; times < 3; ++times) x.insert(x.end(), cases.begin(), cases.end());
    std::vector<Bf16> narrow(x.size());
    const auto size = static_cast<std::int64_t>(x.size());
    cast({reinterpret_cast<std::byte*>(x.data()), DType::fp32, {size}},
         {reinterpret_cast<std::byte*>(narrow.data()), DType::bf16, {size}}, {1, isa});
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(narrow[i].bits, to_bf16(x[i]).bits) << x[i];
    }
  }
}

TEST(Elementwise, ZeroesAreZeroBits) {
  Values x = random_values(DType::bf16, {1001}, 1);
  fill_zero(x.tensor(), {3, Isa::portable});
  for (std::int64_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], 0);
}

TEST(Elementwise, BiasesAreAddedToRowsAndTheirGradientsSummedOverThem) {
  for (const Isa isa : isas()) {
    for (const DType dtype : kComputeTypes) {
      for (const DType parameters : kComputeTypes) {
        for (const std::int64_t width : {1, 3, 17, 65, 129, 300}) {
          Values x = random_values(dtype, {70, width}, 1);
          Values bias = random_values(parameters, {width}, 2);
          const Values before = x;
          add_bias(x.tensor(), bias.tensor(), {2, isa});
          for (std::int64_t i = 0; i < x.size(); ++i) {
            ASSERT_EQ(x[i], rounded(dtype, before[i] + bias[i % width]));
          }
          Values dbias = random_values(parameters, {width}, 3);
          std::vector<double> sums = dbias.doubles();
          Values dy = before;
          add_bias_backward(dy.tensor(), dbias.tensor(), {2, isa});
          for (std::int64_t i = 0; i < before.size(); ++i) {
            sums[static_cast<std::size_t>(i % width)] += before[i];
          }
          // Blocks of 64 normal numbers in fp32.
          expect_near(dbias, sums, rounding_of(parameters), 1e-5);
        }
      }
    }
  }
}

RC_GTEST_PROP(Elementwise, BiasGradientsDoNotDependOnTheNumberOfThreads, ()) {
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 300);
  const auto width = *rc::gen::inRange<std::int64_t>(1, 300);
  const auto all = isas();
  const Isa isa = all[*rc::gen::inRange<std::size_t>(0, all.size())];
  Values dy = random_values(DType::fp32, {rows, width}, 1);
  Values one = random_values(DType::fp32, {width}, 2);
  Values many = one;
  add_bias_backward(dy.tensor(), one.tensor(), {1, isa});
  add_bias_backward(dy.tensor(), many.tensor(), {3, isa});
  RC_ASSERT(one == many);
}

}  // namespace
}  // namespace fourhold::engine
