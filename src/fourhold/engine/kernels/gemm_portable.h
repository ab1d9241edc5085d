// The last candidate: plain C++ for any x86-64, blocked like the others.
#pragma once

#include <memory>

#include "fourhold/engine/kernels/gemm.h"

namespace fourhold::engine {

[[nodiscard]] std::unique_ptr<const Gemm> portable_gemm(const GemmProblem& problem);

}  // namespace fourhold::engine
