#include <immintrin.h>

#include <cstddef>

#include "fourhold/engine/kernels/gemm_driver.h"
#include "fourhold/engine/kernels/gemm_pack.h"
#include "fourhold/engine/kernels/gemm_vector.h"

namespace fourhold::engine {
namespace {

// 6 rows of two vectors: 12 sums, 2 vectors of the right operand and a broadcast fill the 16
// registers.
struct Avx2Kernel {
  static constexpr int kRows = 6;
  static constexpr int kColumns = 16;
  static constexpr int kVectors = 2;
  static constexpr int kLanes = 8;
  struct Session {};

  [[gnu::target("avx2,fma")]] static void pack_left(const GemmOperand& operand,
                                                    const PackBlock& block, std::byte* to) {
    pack_strips<kRows>(operand, block, to);
  }
  [[gnu::target("avx2,fma")]] static void pack_right(const GemmOperand& operand,
                                                     const PackBlock& block, std::byte* to) {
    pack_strips<kColumns>(operand, block, to);
  }

  // Vector v of row r of a micro tile's sums.
  static float* at(float* sums, std::ptrdiff_t r, std::ptrdiff_t v) {
    return sums + r * kColumns + v * kLanes;
  }

  [[gnu::target("avx2,fma")]] static void multiply(std::int64_t depth, const std::byte* packed_left,
                                                   const std::byte* packed_right, float* to,
                                                   bool first) {
    const auto* left = reinterpret_cast<const float*>(packed_left);
    const auto* right = reinterpret_cast<const float*>(packed_right);
    __m256 sums[kRows][kVectors];
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = first ? _mm256_setzero_ps() : _mm256_loadu_ps(at(to, r, v));
      }
    }
    for (std::int64_t d = 0; d < depth; ++d, left += kRows, right += kColumns) {
      const __m256 right0 = _mm256_loadu_ps(right);
      const __m256 right1 = _mm256_loadu_ps(right + kLanes);
      for (int r = 0; r < kRows; ++r) {
        const __m256 broadcast = _mm256_broadcast_ss(left + r);
        sums[r][0] = _mm256_fmadd_ps(broadcast, right0, sums[r][0]);
        sums[r][1] = _mm256_fmadd_ps(broadcast, right1, sums[r][1]);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v) {
        _mm256_storeu_ps(at(to, r, v), sums[r][v]);
      }
    }
  }

  [[gnu::target("avx2,fma")]] static void finish(const float* sums, const GemmEpilogue& epilogue,
                                                 const OutputTile& tile) {
    finish_tile<kColumns>(sums, epilogue, tile);
  }
};

}  // namespace

std::unique_ptr<const Gemm> avx2_gemm(const GemmProblem& problem) {
  return std::make_unique<BlockedGemm<Avx2Kernel>>(problem, plan::Isa::avx2);
}

}  // namespace fourhold::engine
