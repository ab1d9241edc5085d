#include "fourhold/engine/kernels/gemm_amx.h"

#include <cassert>

#include "fourhold/engine/kernels/amx_kernel.h"
#include "fourhold/engine/kernels/amx_pack.h"

namespace fourhold::engine {

std::unique_ptr<const Gemm> amx_gemm(const GemmProblem& problem) {
  assert(problem.operands == DType::bf16 && "tiles of bf16 pairs");
  return std::make_unique<BlockedGemm<AmxKernel<HardwareTiles, Avx512TilePacking>>>(problem,
                                                                                    plan::Isa::amx);
}

}  // namespace fourhold::engine
