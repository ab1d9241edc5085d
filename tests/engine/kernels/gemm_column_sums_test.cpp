#include "fourhold/engine/kernels/gemm_column_sums.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace fourhold::engine {
namespace {

template <typename T>
Tensor view(std::vector<T>& values, std::int64_t rows, std::int64_t columns) {
  return {reinterpret_cast<std::byte*>(values.data()), kDTypeOf<T>, {rows, columns}};
}

std::vector<Bf16> random_values(std::int64_t count) {
  std::mt19937 generator(7);
  std::normal_distribution<float> normal;
  std::vector<Bf16> values(static_cast<std::size_t>(count));
  for (Bf16& value : values) value = to_bf16(normal(generator));
  return values;
}

TEST(ColumnSums, AddUpEveryRowOfEveryColumn) {
  for (const std::int64_t m : {1, 63, 64, 65, 1000}) {
    for (const std::int64_t n : {1, 17, 64, 600, 1030}) {
      std::vector<Bf16> rows = random_values(m * n);
      std::vector<float> sums(static_cast<std::size_t>(n), 2.0F);
      column_sums(view(rows, m, n), view(sums, 1, n), Destination::accumulate, 2, best_isa());
      for (std::int64_t c = 0; c < n; ++c) {
        double expected = 2;
        double magnitude = 2;
        for (std::int64_t r = 0; r < m; ++r) {
          const double value = to_float(rows[static_cast<std::size_t>(r * n + c)]);
          expected += value;
          magnitude += std::abs(value);
        }
        // 64 + m/64 additions follow one another; each rounds by 2^-24 at most.
        const double roundings = 66.0 + static_cast<double>(m) / 64;
        ASSERT_NEAR(sums[static_cast<std::size_t>(c)], expected,
                    roundings * std::ldexp(magnitude, -24))
            << m << " x " << n << ", column " << c;
      }
    }
  }
}

TEST(ColumnSums, AreTheSameBitsForEveryThreadCountAndInstructionSet) {
  std::vector<Bf16> rows = random_values(300 * 700);
  std::vector<Bf16> first(700);
  column_sums(view(rows, 300, 700), view(first, 1, 700), Destination::overwrite, 1, Isa::portable);
  for (int isa = 0; isa <= static_cast<int>(best_isa()); ++isa) {
    for (int threads = 1; threads <= 4; ++threads) {
      std::vector<Bf16> sums(700);
      column_sums(view(rows, 300, 700), view(sums, 1, 700), Destination::overwrite, threads,
                  static_cast<Isa>(isa));
      EXPECT_EQ(sums, first) << to_string(static_cast<Isa>(isa)) << ", " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace fourhold::engine
