#include "fourhold/plan/kernel_scratch.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace fourhold::plan {
namespace {

constexpr std::int64_t kAlignment = 64;  // bytes of a cache line

// Chosen by bench/gemm_bench.cpp. A larger tile is packed less often for the same work; its sums
// take 4 MiB at most.
constexpr std::int64_t kLargestTileRows = 1024;
constexpr std::int64_t kLargestTileColumns = 1024;
// Packed rows stay in the second-level cache.
constexpr std::int64_t kRowBlock = 128;
// Packing one element takes as long as about this many multiply-adds of a micro tile.
constexpr std::int64_t kPackingCost = 24;

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) { return divide_up(a, b) * b; }

// A longer block means fewer passes over the sums. AMX loads 64 bytes a cycle, so a strip of its
// right operand (32 columns, 32 KiB) has to stay in the first-level cache; vector kernels load a
// quarter of that and stream their strips (48 columns, 72 KiB) from the second level.
std::int64_t largest_depth_block(Isa kernel) {
  switch (kernel) {
    case Isa::amx:
      return 512;
    case Isa::avx512_bf16:
      return 768;
    case Isa::avx512:
      return 384;
    case Isa::avx2:
    case Isa::portable:
      return 256;
  }
  assert(false && "every instruction set has its block");
  return 0;
}

struct Tiling {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

// Cuts the output so that the busiest thread has the least to do. More tiles than needed are tried
// up to one per thread in each direction; ties go to the fewest.
Tiling best_tiling(const ProductSizes& sizes, const MicroTile& micro, int threads) {
  Tiling best;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  const std::int64_t fewest_rows = divide_up(sizes.rows, kLargestTileRows);
  const std::int64_t fewest_columns = divide_up(sizes.columns, kLargestTileColumns);
  const std::int64_t more = std::min<std::int64_t>(threads, 16);
  for (std::int64_t by_rows = fewest_rows; by_rows < fewest_rows + more; ++by_rows) {
    const std::int64_t rows = round_up(divide_up(sizes.rows, by_rows), micro.rows);
    for (std::int64_t by_columns = fewest_columns; by_columns < fewest_columns + more;
         ++by_columns) {
      const std::int64_t columns = round_up(divide_up(sizes.columns, by_columns), micro.columns);
      const std::int64_t tiles = divide_up(sizes.rows, rows) * divide_up(sizes.columns, columns);
      const std::int64_t cost =
          divide_up(tiles, threads) * (rows * columns + kPackingCost * (rows + columns));
      if (cost < least) {
        least = cost;
        best = {rows, columns};
      }
    }
  }
  return best;
}

}  // namespace

ProductSizes product_sizes(GemmForm form, const GemmSizes& sizes) {
  switch (form) {
    case GemmForm::forward:
      return {sizes.m, sizes.n, sizes.k};
    case GemmForm::backward_data:
      return {sizes.m, sizes.k, sizes.n};
    case GemmForm::backward_weight:
      return {sizes.n, sizes.k, sizes.m};
  }
  assert(false && "every form has its product");
  return {};
}

Isa kernel_isa(Isa isa, DType operands) {
  assert((operands == DType::fp32 || operands == DType::bf16) && "what kernels multiply");
  return operands == DType::fp32 ? std::min(isa, Isa::avx512) : isa;
}

MicroTile micro_tile(Isa kernel) {
  switch (kernel) {
    case Isa::amx:
      return {32, 32, 32, 2};
    case Isa::avx512_bf16:
      return {8, 48, 2, 2};
    case Isa::avx512:
      return {8, 48, 1, 4};
    case Isa::avx2:
      return {6, 16, 1, 4};
    case Isa::portable:
      return {4, 16, 1, 4};
  }
  assert(false && "every instruction set has its micro tile");
  return {};
}

GemmBlocking gemm_blocking(const ProductSizes& sizes, int threads, Isa kernel) {
  assert(threads >= 1 && "a plan has at least one thread");
  assert(sizes.rows > 0 && sizes.columns > 0 && sizes.depth > 0 && "nothing to multiply");
  GemmBlocking blocking;
  blocking.micro = micro_tile(kernel);
  const Tiling tiling = best_tiling(sizes, blocking.micro, threads);
  blocking.tile_rows = tiling.rows;
  blocking.tile_columns = tiling.columns;
  blocking.row_block = std::min(tiling.rows, kRowBlock / blocking.micro.rows * blocking.micro.rows);
  const std::int64_t blocks = divide_up(sizes.depth, largest_depth_block(kernel));
  blocking.depth_block = round_up(divide_up(sizes.depth, blocks), blocking.micro.depth_step);
  blocking.depth_blocks = divide_up(sizes.depth, blocking.depth_block);
  return blocking;
}

GemmScratch gemm_scratch(const GemmBlocking& blocking) {
  const auto packed = [&](std::int64_t outer) {
    return round_up(outer * blocking.depth_block * blocking.micro.packed_bytes, kAlignment);
  };
  constexpr std::int64_t kSumBytes = 4;
  const std::int64_t sums = blocking.depth_blocks > 1
                                ? blocking.tile_rows * blocking.tile_columns
                                : std::int64_t{blocking.micro.rows} * blocking.micro.columns;
  return {packed(blocking.row_block), packed(blocking.tile_columns),
          round_up(sums * kSumBytes, kAlignment)};
}

std::int64_t gemm_scratch_bytes(GemmForm form, const GemmSizes& sizes, DType operands, int threads,
                                Isa isa) {
  const GemmBlocking blocking =
      gemm_blocking(product_sizes(form, sizes), threads, kernel_isa(isa, operands));
  return threads * gemm_scratch(blocking).total_bytes();
}

}  // namespace fourhold::plan
