// Matrix multiplication by oneDNN: a candidate, and the reference that tests compare with.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fourhold/engine/kernels/gemm.h"

namespace fourhold::engine {

struct OnednnPreparation {
  std::unique_ptr<const Gemm> gemm;  // one run at a time
  std::int64_t scratch_bytes = 0;    // what running needs
  std::string refusal;               // why there is no gemm
};

// Refuses what oneDNN cannot do on this machine but by its reference loops.
[[nodiscard]] OnednnPreparation onednn_gemm(const GemmProblem& problem);

}  // namespace fourhold::engine
