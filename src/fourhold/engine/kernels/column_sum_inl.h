// Sums down the columns of a matrix, for gradients of biases and norm weights. Compiled once for
// each target.
//
// Columns are split over threads and a column's order is fixed: fp32 within blocks of rows, the
// blocks in fp64, one rounding into the gradient. So nothing depends on the number of threads, and
// no partial sums need memory.
#if defined(FOURHOLD_ENGINE_KERNELS_COLUMN_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOURHOLD_ENGINE_KERNELS_COLUMN_SUM_INL_H_
#undef FOURHOLD_ENGINE_KERNELS_COLUMN_SUM_INL_H_
#else
#define FOURHOLD_ENGINE_KERNELS_COLUMN_SUM_INL_H_
#endif

#include <array>

#include "fourhold/engine/kernels/simd_inl.h"
#include "fourhold/engine/tensor/tensor.h"
#include "fourhold/engine/threads/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine {
namespace HWY_NAMESPACE {

inline constexpr std::int64_t kRowBlock = 64;     // fp32 sums of at most so many addends
inline constexpr std::int64_t kColumnChunk = 16;  // what threads are given; a cache line of fp32
inline constexpr std::int64_t kColumnTile = 128;  // columns walked down together

// gradient[begin + i] += sums[i], rounded once.
inline void add_doubles(const double* sums, const Tensor& gradient, std::int64_t begin,
                        std::int64_t count) {
  with_type(gradient.dtype, [&](auto type) {
    using G = decltype(type);
    G* to = gradient.as<G>().data() + begin;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto sum = static_cast<float>(static_cast<double>(to_float(to[i])) + sums[i]);
      if constexpr (sizeof(G) == sizeof(float)) {
        to[i] = sum;
      } else {
        to[i] = to_bf16(sum);
      }
    }
  });
}

// Columns [begin, end), at most kColumnTile of them.
template <class Columns>
void sum_column_tile(const Columns& columns, std::int64_t rows, std::int64_t begin,
                     std::int64_t end, const std::array<const Tensor*, Columns::kSums>& gradients) {
  constexpr auto kSums = static_cast<std::size_t>(Columns::kSums);
  constexpr auto kTile = static_cast<std::size_t>(kColumnTile);
  std::array<std::array<double, kTile>, kSums> totals{};
  for (std::int64_t first = 0; first < rows; first += kRowBlock) {
    const std::int64_t last = std::min(first + kRowBlock, rows);
    // Vectors that begin behind the last column read nothing and are not asked for.
    for_vectors(begin, end, [&](std::int64_t column, auto lanes) HWY_ATTR {
      Vector sums[kSums];
      for (Vector& sum : sums) sum = splat(0);
      for (std::int64_t row = first; row < last; ++row) columns.add_to(sums, row, column, lanes);
      alignas(64) std::array<float, static_cast<std::size_t>(kLanes)> parts;
      for (std::size_t s = 0; s < kSums; ++s) {
        store(sums[s], parts.data());
        const std::int64_t count = std::min(kLanes, end - column);
        for (std::int64_t i = 0; i < count; ++i) {
          totals[s][static_cast<std::size_t>(column - begin + i)] +=
              static_cast<double>(parts[static_cast<std::size_t>(i)]);
        }
      }
    });
  }
  for (std::size_t s = 0; s < kSums; ++s) {
    if (gradients[s] != nullptr) {
      add_doubles(totals[s].data(), *gradients[s], begin, end - begin);
    }
  }
}

// gradients[s][i] += sum over rows of the s-th addend of column i. A null gradient is not wanted.
template <class Columns>
void accumulate_column_sums(const Columns& columns, std::int64_t rows, std::int64_t width,
                            const std::array<const Tensor*, Columns::kSums>& gradients,
                            int threads) {
  const std::int64_t chunks = (width + kColumnChunk - 1) / kColumnChunk;
  parallel_for(chunks, threads, [&](const Share& share) {
    const std::int64_t end = std::min(share.end * kColumnChunk, width);
    for (std::int64_t tile = share.begin * kColumnChunk; tile < end; tile += kColumnTile) {
      sum_column_tile(columns, rows, tile, std::min(tile + kColumnTile, end), gradients);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace fourhold::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
