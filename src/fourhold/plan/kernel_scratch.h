// The written rule of what a matrix multiplication needs beside its operands: the ledger's scratch
// entry is this many bytes, and a kernel gets exactly that.
//
// A product of rows x depth and depth x columns is cut into output tiles, each done by one thread
// from the first to the last addend. A thread holds, for its tile, a packed block of the right
// operand (tile columns x a depth block), a packed slice of the left one (row block x depth block)
// and, when depth takes more than one block, the tile's sums in fp32. How depth is cut depends on
// depth, instruction set and dtype alone, so results do not depend on the number of threads.
#pragma once

#include <cstdint>

#include "fourhold/base/dtype.h"
#include "fourhold/plan/isa.h"

namespace fourhold::plan {

// The three products of a linear layer y = x w^T with x [m, k], w [n, k], y [m, n].
enum class GemmForm : std::uint8_t {
  forward,          // y  [m, n] = x  [m, k] w [n, k]^T
  backward_data,    // dx [m, k] = dy [m, n] w [n, k]
  backward_weight,  // dw [n, k] = dy [m, n]^T x [m, k]
};

// m tokens, n outputs, k inputs of the layer.
struct GemmSizes {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  friend constexpr bool operator==(const GemmSizes&, const GemmSizes&) = default;
};

// The product behind a form: [rows, depth] times [depth, columns].
struct ProductSizes {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
};
[[nodiscard]] ProductSizes product_sizes(GemmForm form, const GemmSizes& sizes);

// What a kernel's innermost loop computes: a micro tile of rows x columns in registers, with depth
// taken in steps, from operands packed as elements of `packed_bytes` bytes.
struct MicroTile {
  int rows = 0;
  int columns = 0;
  int depth_step = 1;
  int packed_bytes = 4;
};
[[nodiscard]] MicroTile micro_tile(Isa kernel);

// The instruction set of the kernel that serves operands of fp32 or bf16 where a plan says `isa`:
// instructions for bf16 are of no use to fp32. Below avx512_bf16 bf16 is widened while packed.
[[nodiscard]] Isa kernel_isa(Isa isa, DType operands);

// All in elements; tile and block sizes are multiples of the micro tile's.
struct GemmBlocking {
  MicroTile micro;
  std::int64_t tile_rows = 0;
  std::int64_t tile_columns = 0;
  std::int64_t row_block = 0;    // rows of the left operand packed at a time
  std::int64_t depth_block = 0;  // the last block may be shorter
  std::int64_t depth_blocks = 0;
};
// Sizes and threads are positive.
[[nodiscard]] GemmBlocking gemm_blocking(const ProductSizes& sizes, int threads, Isa kernel);

// Bytes of one thread's three areas, each a multiple of 64.
struct GemmScratch {
  std::int64_t left_bytes = 0;
  std::int64_t right_bytes = 0;
  std::int64_t sum_bytes = 0;
  [[nodiscard]] std::int64_t total_bytes() const { return left_bytes + right_bytes + sum_bytes; }
};
[[nodiscard]] GemmScratch gemm_scratch(const GemmBlocking& blocking);

// Of one call, all threads together. Operands are fp32 or bf16; sizes and threads are positive.
[[nodiscard]] std::int64_t gemm_scratch_bytes(GemmForm form, const GemmSizes& sizes, DType operands,
                                              int threads, Isa isa);

}  // namespace fourhold::plan
