// The kernels for vector instructions. Each may be prepared anywhere and run only where the CPU has
// the instructions (isa.h); gemm_candidates.h sees to that.
#pragma once

#include <memory>

#include "fourhold/engine/kernels/gemm.h"

namespace fourhold::engine {

// fp32 arithmetic; bf16 operands are widened while they are packed.
[[nodiscard]] std::unique_ptr<const Gemm> avx2_gemm(const GemmProblem& problem);
[[nodiscard]] std::unique_ptr<const Gemm> avx512_gemm(const GemmProblem& problem);
// VDPBF16PS; bf16 operands only.
[[nodiscard]] std::unique_ptr<const Gemm> avx512_bf16_gemm(const GemmProblem& problem);

}  // namespace fourhold::engine
