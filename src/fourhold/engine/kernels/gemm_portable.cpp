#include "fourhold/engine/kernels/gemm_portable.h"

#include "fourhold/engine/kernels/gemm_driver.h"
#include "fourhold/engine/kernels/gemm_pack.h"

namespace fourhold::engine {
namespace {

struct PortableKernel {
  static constexpr int kRows = 4;
  static constexpr int kColumns = 16;
  struct Session {};

  static void pack_left(const GemmOperand& operand, const PackBlock& block, std::byte* to) {
    pack_strips<kRows>(operand, block, to);
  }
  static void pack_right(const GemmOperand& operand, const PackBlock& block, std::byte* to) {
    pack_strips<kColumns>(operand, block, to);
  }
  static void multiply(std::int64_t depth, const std::byte* packed_left,
                       const std::byte* packed_right, float* to, bool first) {
    const auto* left = reinterpret_cast<const float*>(packed_left);
    const auto* right = reinterpret_cast<const float*>(packed_right);
    float sums[kRows][kColumns] = {};
    for (std::int64_t d = 0; d < depth; ++d, left += kRows, right += kColumns) {
      for (int r = 0; r < kRows; ++r) {
        for (int c = 0; c < kColumns; ++c) sums[r][c] += left[r] * right[c];
      }
    }
    for (int i = 0; i < kRows * kColumns; ++i) {
      const float sum = sums[i / kColumns][i % kColumns];
      to[i] = first ? sum : to[i] + sum;
    }
  }
  static void finish(const float* sums, const GemmEpilogue& epilogue, const OutputTile& tile) {
    finish_tile<kColumns>(sums, epilogue, tile);
  }
};

}  // namespace

std::unique_ptr<const Gemm> portable_gemm(const GemmProblem& problem) {
  return std::make_unique<BlockedGemm<PortableKernel>>(problem, plan::Isa::portable);
}

}  // namespace fourhold::engine
