// AMX in plain C++: the tile operations AmxKernel is written over, and its packing by definition.
//
// TDPBF16PS by Intel's Software Developer's Manual (volume 2): for each sum the products of even
// and of odd elements are added up apart, by fused multiply-adds that take denormals for zero in
// and out and round to nearest even; then the two are added, and that to the sum.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "fourhold/engine/kernels/amx_kernel.h"

namespace fourhold::engine {

class EmulatedTiles {
 public:
  struct Session {
    Session() {}  // not trivial, as the real one
  };

  template <int kSum>
  void zero() {
    std::memset(tiles_[kSum], 0, kTileBytes);
  }
  template <int kTile>
  void load(const void* from, std::size_t stride) {
    for (std::size_t r = 0; r < kTileRows; ++r) {
      std::memcpy(tiles_[kTile][r], static_cast<const std::byte*>(from) + r * stride, kRowBytes);
    }
  }
  template <int kSum>
  void store(void* to, std::size_t stride) {
    for (std::size_t r = 0; r < kTileRows; ++r) {
      std::memcpy(static_cast<std::byte*>(to) + r * stride, tiles_[kSum][r], kRowBytes);
    }
  }
  template <int kRowHalf, int kColumnHalf>
  void multiply() {
    std::byte(&sums)[kTileRows][kRowBytes] = tiles_[kRowHalf * 2 + kColumnHalf];
    const std::byte(&left)[kTileRows][kRowBytes] = tiles_[4 + kRowHalf];
    const std::byte(&right)[kTileRows][kRowBytes] = tiles_[6 + kColumnHalf];
    for (std::size_t m = 0; m < kTileRows; ++m) {
      for (std::size_t n = 0; n < kTileRows; ++n) {
        float even = 0;
        float odd = 0;
        for (std::size_t k = 0; k < kTileRows; ++k) {
          even = multiply_add(bf16_at(left[m], 2 * k), bf16_at(right[k], 2 * n), even);
          odd = multiply_add(bf16_at(left[m], 2 * k + 1), bf16_at(right[k], 2 * n + 1), odd);
        }
        float sum = 0;
        std::memcpy(&sum, sums[m] + n * sizeof sum, sizeof sum);
        sum = flush(flush(sum) + flush(even + odd));
        std::memcpy(sums[m] + n * sizeof sum, &sum, sizeof sum);
      }
    }
  }

 private:
  static constexpr std::size_t kRowBytes = 64;

  static float flush(float value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
  }
  static float multiply_add(float a, float b, float sum) { return flush(std::fma(a, b, sum)); }
  static float bf16_at(const std::byte* row, std::size_t i) {
    Bf16 value;
    std::memcpy(&value, row + i * sizeof value, sizeof value);
    return flush(to_float(value));
  }

  std::byte tiles_[8][kTileRows][kRowBytes];
};

// The layout of amx_kernel.h element by element.
struct PlainTilePacking {
  static void pack_left(const GemmOperand& operand, const PackBlock& block, std::byte* to) {
    pack(operand, block, to, [](std::int64_t outer, std::int64_t pair, std::int64_t parity) {
      return (outer * 16 + pair) * 2 + parity;
    });
  }
  static void pack_right(const GemmOperand& operand, const PackBlock& block, std::byte* to) {
    pack(operand, block, to, [](std::int64_t outer, std::int64_t pair, std::int64_t parity) {
      return (pair * 16 + outer) * 2 + parity;
    });
  }
  template <int kColumns>
  static void finish(const float* sums, const GemmEpilogue& epilogue, const OutputTile& tile) {
    finish_tile<kColumns>(sums, epilogue, tile);
  }

 private:
  template <typename InTile>
  static void pack(const GemmOperand& operand, const PackBlock& block, std::byte* packed,
                   const InTile& in_tile) {
    auto* to = reinterpret_cast<Bf16*>(packed);
    const std::int64_t steps = (block.depth() + 31) / 32;
    const std::int64_t strips = (block.outer() + 31) / 32;
    for (std::int64_t o = 0; o < strips * 32; ++o) {
      for (std::int64_t d = 0; d < steps * 32; ++d) {
        const bool inside = o < block.outer() && d < block.depth();
        const std::int64_t tile = (o / 32 * steps + d / 32) * 2 + o % 32 / 16;
        to[tile * 512 + in_tile(o % 16, d % 32 / 2, d % 2)] =
            inside ? *operand.at<Bf16>(block.outer_begin + o, block.depth_begin + d) : Bf16{};
      }
    }
  }
};

template <typename Packing>
std::unique_ptr<const Gemm> emulated_amx_gemm(const GemmProblem& problem) {
  return std::make_unique<BlockedGemm<AmxKernel<EmulatedTiles, Packing>>>(problem, plan::Isa::amx);
}

}  // namespace fourhold::engine
