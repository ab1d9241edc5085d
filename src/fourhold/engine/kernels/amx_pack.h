// Packing for the AMX kernel with AVX-512, which every CPU with AMX has. Layout: amx_kernel.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fourhold/engine/kernels/avx512_pack.h"
#include "fourhold/engine/kernels/gemm_epilogue.h"

namespace fourhold::engine {

struct Avx512TilePacking {
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] static void pack_left(
      const GemmOperand& operand, const PackBlock& block, std::byte* to) {
    pack<avx512::Lanes::units>(operand, block, to);
  }
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] static void pack_right(
      const GemmOperand& operand, const PackBlock& block, std::byte* to) {
    pack<avx512::Lanes::outer>(operand, block, to);
  }
  template <int kColumns>
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] static void finish(
      const float* sums, const GemmEpilogue& epilogue, const OutputTile& tile) {
    finish_tile<kColumns>(sums, epilogue, tile);
  }

 private:
  template <avx512::Lanes kAcross>
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl"), gnu::always_inline]] inline static void pack(
      const GemmOperand& operand, const PackBlock& block, std::byte* packed) {
    constexpr std::int64_t kSide = avx512::kLanes;
    constexpr std::int64_t kDepth = 2 * kSide;  // of one tile
    const std::int64_t steps = (block.depth() + kDepth - 1) / kDepth;
    const std::int64_t halves = (block.outer() + 2 * kSide - 1) / (2 * kSide) * 2;
    auto* to = reinterpret_cast<std::int32_t*>(packed);
    // Along the contiguous index first, so that memory is read in order.
    const bool along_depth = operand.contiguous == Contiguous::depth;
    for (std::int64_t i = 0; i < halves * steps; ++i) {
      const std::int64_t half = along_depth ? i / steps : i % halves;
      const std::int64_t step = along_depth ? i % steps : i / halves;
      const std::int64_t outer = block.outer_begin + half * kSide;
      const std::int64_t depth = block.depth_begin + step * kDepth;
      if (along_depth) {
        avx512::prefetch_square<avx512::Unit::bf16_pair>(operand, outer + kSide, depth);
      }
      avx512::Square square;
      avx512::load_square<avx512::Unit::bf16_pair, kAcross>(operand, block, outer, depth, square);
      std::int32_t* tile = to + ((half / 2 * steps + step) * 2 + half % 2) * kSide * kSide;
      for (int r = 0; r < kSide; ++r) _mm512_storeu_si512(tile + r * kSide, square[r]);
    }
  }
};

}  // namespace fourhold::engine
