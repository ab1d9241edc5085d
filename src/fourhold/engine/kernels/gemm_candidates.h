// Which kernel does a matrix multiplication: candidates in order, the first that applies.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/engine/kernels/gemm.h"
#include "fourhold/engine/kernels/isa.h"

namespace fourhold::engine {

// A prepared problem, or why this candidate refuses it.
struct GemmPreparation {
  std::unique_ptr<const Gemm> gemm;
  std::string refusal;  // empty if and only if gemm is set
};

struct GemmCandidate {
  std::string_view name;
  GemmPreparation (*prepare)(const GemmProblem& problem, Isa isa);
};

// Own kernels from the highest instruction set down, oneDNN, plain C++. Each refuses what needs
// instructions above `isa` or more scratch than problem.scratch_bytes(isa).
[[nodiscard]] std::span<const GemmCandidate> gemm_candidates();

struct GemmRefusal {
  std::string_view name;
  std::string reason;
};

struct GemmChoice {
  std::string_view name;
  std::unique_ptr<const Gemm> gemm;
  std::vector<GemmRefusal> refused;  // those asked before
};

// Prepares the first candidate that applies. May allocate: it belongs to the start of a run. `isa`
// is at most best_isa().
[[nodiscard]] GemmChoice choose_gemm(const GemmProblem& problem, Isa isa);

// "forward bf16 [4096, 768] x [768, 2304]: avx512_bf16 (amx: needs amx)": a line of --verbose.
[[nodiscard]] std::string describe(const GemmProblem& problem, const GemmChoice& choice);

}  // namespace fourhold::engine
