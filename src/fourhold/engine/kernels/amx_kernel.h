// The AMX micro kernel: 32 x 32 sums in four tiles, 32 addends (16 pairs) of depth at a time.
//
// Packed operands are tiles in the order of use: to[strip of 32][step of 16 pairs][half of 16],
// each 1 KiB: of the left operand [row][pair], of the right one [pair][column]. Missing rows,
// columns and depth are zeros.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fourhold/engine/kernels/amx_tiles.h"
#include "fourhold/engine/kernels/gemm_driver.h"

namespace fourhold::engine {

// Packing has pack_left and pack_right(operand, block, to) for the layout above.
template <typename Tiles, typename Packing>
struct AmxKernel {
  static constexpr int kRows = 2 * kTileRows;
  static constexpr int kColumns = 2 * kTileRows;
  using Session = typename Tiles::Session;

  static void pack_left(const GemmOperand& operand, const PackBlock& block, std::byte* to) {
    Packing::pack_left(operand, block, to);
  }
  static void pack_right(const GemmOperand& operand, const PackBlock& block, std::byte* to) {
    Packing::pack_right(operand, block, to);
  }

  [[gnu::target("amx-tile,amx-bf16")]] static void multiply(std::int64_t steps,
                                                            const std::byte* left,
                                                            const std::byte* right, float* sums,
                                                            bool first) {
    constexpr std::size_t kSumStride = kColumns * sizeof(float);
    constexpr std::size_t kStride = kTileBytes / kTileRows;
    constexpr std::ptrdiff_t kPair = std::ptrdiff_t{2} * kTileBytes;
    // GCC's tile loads do not tell the compiler that they read memory.
    asm volatile("" ::: "memory");
    float* const lower = sums + std::ptrdiff_t{kTileRows} * kColumns;
    Tiles tiles;
    if (first) {
      tiles.template zero<0>();
      tiles.template zero<1>();
      tiles.template zero<2>();
      tiles.template zero<3>();
    } else {
      tiles.template load<0>(sums, kSumStride);
      tiles.template load<1>(sums + kTileRows, kSumStride);
      tiles.template load<2>(lower, kSumStride);
      tiles.template load<3>(lower + kTileRows, kSumStride);
    }
    for (std::int64_t s = 0; s < steps; ++s, left += kPair, right += kPair) {
      tiles.template load<6>(right, kStride);
      tiles.template load<4>(left, kStride);
      tiles.template multiply<0, 0>();
      tiles.template load<5>(left + kTileBytes, kStride);
      tiles.template multiply<1, 0>();
      tiles.template load<7>(right + kTileBytes, kStride);
      tiles.template multiply<0, 1>();
      tiles.template multiply<1, 1>();
    }
    tiles.template store<0>(sums, kSumStride);
    tiles.template store<1>(sums + kTileRows, kSumStride);
    tiles.template store<2>(lower, kSumStride);
    tiles.template store<3>(lower + kTileRows, kSumStride);
  }

  static void finish(const float* sums, const GemmEpilogue& epilogue, const OutputTile& tile) {
    Packing::template finish<kColumns>(sums, epilogue, tile);
  }
};

}  // namespace fourhold::engine
