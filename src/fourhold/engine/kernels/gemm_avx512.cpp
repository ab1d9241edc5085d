#include <immintrin.h>

#include <cassert>

#include "fourhold/engine/kernels/avx512_multiply.h"
#include "fourhold/engine/kernels/avx512_pack.h"
#include "fourhold/engine/kernels/gemm_driver.h"
#include "fourhold/engine/kernels/gemm_vector.h"

namespace fourhold::engine {
namespace {

using avx512::Unit;

struct Fp32Arithmetic {
  [[gnu::target("avx512f"), gnu::always_inline]] static inline __m512 multiply_add(__m512 left,
                                                                                   __m512 right,
                                                                                   __m512 sum) {
    return _mm512_fmadd_ps(left, right, sum);
  }
};

// Written as assembly because a function for AVX-512 alone cannot inline one for AVX512_BF16, and
// the loop around it is shared.
struct Bf16Arithmetic {
  [[gnu::target("avx512f"), gnu::always_inline]] static inline __m512 multiply_add(__m512 left,
                                                                                   __m512 right,
                                                                                   __m512 sum) {
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(left), "v"(right));
    return sum;
  }
};

template <Unit kUnit, typename Arithmetic>
struct Avx512Kernel {
  static constexpr int kRows = avx512::kRows;
  static constexpr int kColumns = avx512::kColumns;
  struct Session {};

  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] static void pack_left(
      const GemmOperand& operand, const PackBlock& block, std::byte* to) {
    avx512::StripPacker<kUnit, kRows>::pack(operand, block, to);
  }
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] static void pack_right(
      const GemmOperand& operand, const PackBlock& block, std::byte* to) {
    avx512::StripPacker<kUnit, kColumns>::pack(operand, block, to);
  }
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] static void multiply(
      std::int64_t units, const std::byte* left, const std::byte* right, float* to, bool first) {
    avx512::multiply_units<Arithmetic>(units, left, right, to, first);
  }
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] static void finish(
      const float* sums, const GemmEpilogue& epilogue, const OutputTile& tile) {
    finish_tile<kColumns>(sums, epilogue, tile);
  }
};

}  // namespace

std::unique_ptr<const Gemm> avx512_gemm(const GemmProblem& problem) {
  if (problem.operands == DType::fp32) {
    return std::make_unique<BlockedGemm<Avx512Kernel<Unit::fp32, Fp32Arithmetic>>>(
        problem, plan::Isa::avx512);
  }
  return std::make_unique<BlockedGemm<Avx512Kernel<Unit::fp32_from_bf16, Fp32Arithmetic>>>(
      problem, plan::Isa::avx512);
}

std::unique_ptr<const Gemm> avx512_bf16_gemm(const GemmProblem& problem) {
  assert(problem.operands == DType::bf16 && "pairs of bf16");
  return std::make_unique<BlockedGemm<Avx512Kernel<Unit::bf16_pair, Bf16Arithmetic>>>(
      problem, plan::Isa::avx512_bf16);
}

}  // namespace fourhold::engine
