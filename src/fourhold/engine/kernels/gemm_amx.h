// bf16 matrix multiplication on AMX tiles. May be prepared anywhere and run where best_isa() is
// amx.
#pragma once

#include <memory>

#include "fourhold/engine/kernels/gemm.h"

namespace fourhold::engine {

[[nodiscard]] std::unique_ptr<const Gemm> amx_gemm(const GemmProblem& problem);

}  // namespace fourhold::engine
