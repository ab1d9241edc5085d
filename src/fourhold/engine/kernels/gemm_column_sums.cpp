#include "fourhold/engine/kernels/gemm_column_sums.h"

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "fourhold/engine/kernels/gemm_epilogue.h"
#include "fourhold/engine/threads/parallel.h"

namespace fourhold::engine {
namespace {

constexpr std::int64_t kRowBlock = 64;
constexpr std::int64_t kColumns = 512;  // done together: 4 KiB of sums
constexpr std::int64_t kUnit = 64;      // columns are shared out in whole cache lines

struct Columns {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

template <typename T>
[[gnu::always_inline]] inline void sum_of(const T* rows, std::int64_t row_count,
                                          std::int64_t stride, std::int64_t count, float* total) {
  alignas(64) float block[kColumns];
  std::fill_n(total, kColumns, 0.0F);
  for (std::int64_t r = 0; r < row_count; r += kRowBlock) {
    std::fill_n(block, count, 0.0F);
    const std::int64_t end = std::min(r + kRowBlock, row_count);
    for (std::int64_t i = r; i < end; ++i) add_to(block, rows + i * stride, count);
    add_to(total, block, count);
  }
}

[[gnu::always_inline]] inline void sum_columns(const Tensor& rows, const Tensor& sums,
                                               Destination destination, const Columns& columns) {
  alignas(64) float total[kColumns];
  const std::int64_t n = rows.width();
  if (rows.dtype == DType::bf16) {
    sum_of(reinterpret_cast<const Bf16*>(rows.data) + columns.begin, rows.rows(), n, columns.count,
           total);
  } else {
    sum_of(reinterpret_cast<const float*>(rows.data) + columns.begin, rows.rows(), n, columns.count,
           total);
  }
  GemmEpilogue epilogue;
  epilogue.output = sums;
  epilogue.columns = n;
  epilogue.destination = destination;
  finish_tile<kColumns>(total, epilogue, {0, columns.begin, 1, columns.count});
}

using SumColumns = void (*)(const Tensor&, const Tensor&, Destination, const Columns&);

void sum_portable(const Tensor& rows, const Tensor& sums, Destination destination,
                  const Columns& columns) {
  sum_columns(rows, sums, destination, columns);
}
[[gnu::target("avx2,fma")]] void sum_avx2(const Tensor& rows, const Tensor& sums,
                                          Destination destination, const Columns& columns) {
  sum_columns(rows, sums, destination, columns);
}
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] void sum_avx512(const Tensor& rows,
                                                                      const Tensor& sums,
                                                                      Destination destination,
                                                                      const Columns& columns) {
  sum_columns(rows, sums, destination, columns);
}

}  // namespace

void column_sums(const Tensor& rows, const Tensor& sums, Destination destination, int threads,
                 Isa isa) {
  assert(sums.elements() == rows.width() && "one sum for each column");
  const SumColumns sum = isa >= Isa::avx512 ? sum_avx512
                         : isa == Isa::avx2 ? sum_avx2
                                            : sum_portable;
  const std::int64_t n = rows.width();
  parallel_for((n + kUnit - 1) / kUnit, threads, [&](const Share& share) {
    const std::int64_t end = std::min(share.end * kUnit, n);
    for (std::int64_t begin = share.begin * kUnit; begin < end; begin += kColumns) {
      sum(rows, sums, destination, {begin, std::min(kColumns, end - begin)});
    }
  });
}

}  // namespace fourhold::engine
