#include "fourhold/engine/kernels/gemm_candidates.h"

#include <array>
#include <cassert>
#include <utility>

#include "fourhold/engine/kernels/gemm_amx.h"
#include "fourhold/engine/kernels/gemm_portable.h"
#include "fourhold/engine/kernels/gemm_vector.h"
#include "fourhold/engine/kernels/onednn.h"

namespace fourhold::engine {
namespace {

std::string scratch_refusal(std::int64_t needed, std::int64_t given) {
  return "needs " + std::to_string(needed) + " bytes of scratch, the ledger has " +
         std::to_string(given);
}

// One of our own kernels, which is for instruction set kKernel.
template <Isa kKernel, std::unique_ptr<const Gemm> (*kMake)(const GemmProblem&)>
GemmPreparation prepare_own(const GemmProblem& problem, Isa isa) {
  if (isa < kKernel) return {nullptr, "needs " + std::string(to_string(kKernel))};
  if (plan::kernel_isa(kKernel, problem.operands) != kKernel) {
    return {nullptr, "multiplies bf16 only"};
  }
  const std::int64_t needed = plan::gemm_scratch_bytes(problem.form, problem.sizes,
                                                       problem.operands, problem.threads, kKernel);
  if (const std::int64_t given = problem.scratch_bytes(isa); needed > given) {
    return {nullptr, scratch_refusal(needed, given)};
  }
  return {kMake(problem), {}};
}

GemmPreparation prepare_onednn(const GemmProblem& problem, Isa isa) {
  if (isa != best_isa()) {
    return {nullptr,
            "chooses its own instructions, and " + std::string(to_string(isa)) + " is asked for"};
  }
  OnednnPreparation prepared = onednn_gemm(problem);
  if (prepared.gemm == nullptr) return {nullptr, std::move(prepared.refusal)};
  if (const std::int64_t given = problem.scratch_bytes(isa); prepared.scratch_bytes > given) {
    return {nullptr, scratch_refusal(prepared.scratch_bytes, given)};
  }
  return {std::move(prepared.gemm), {}};
}

constexpr std::array kCandidates{
    GemmCandidate{"amx", prepare_own<Isa::amx, amx_gemm>},
    GemmCandidate{"avx512_bf16", prepare_own<Isa::avx512_bf16, avx512_bf16_gemm>},
    GemmCandidate{"avx512", prepare_own<Isa::avx512, avx512_gemm>},
    GemmCandidate{"avx2", prepare_own<Isa::avx2, avx2_gemm>},
    GemmCandidate{"onednn", prepare_onednn},
    GemmCandidate{"portable", prepare_own<Isa::portable, portable_gemm>},
};

std::string_view name_of(GemmForm form) {
  constexpr std::array<std::string_view, 3> kNames{"forward", "backward_data", "backward_weight"};
  return kNames[static_cast<std::size_t>(form)];
}

}  // namespace

std::span<const GemmCandidate> gemm_candidates() { return kCandidates; }

GemmChoice choose_gemm(const GemmProblem& problem, Isa isa) {
  GemmChoice choice;
  for (const GemmCandidate& candidate : kCandidates) {
    GemmPreparation prepared = candidate.prepare(problem, isa);
    if (prepared.gemm != nullptr) {
      choice.name = candidate.name;
      choice.gemm = std::move(prepared.gemm);
      return choice;
    }
    choice.refused.push_back({candidate.name, std::move(prepared.refusal)});
  }
  // The scratch rule is made for the kernel of `isa`, which therefore never refuses.
  assert(false && "every instruction set has a kernel");
  return choice;
}

std::string describe(const GemmProblem& problem, const GemmChoice& choice) {
  const plan::ProductSizes sizes = plan::product_sizes(problem.form, problem.sizes);
  std::string text(name_of(problem.form));
  text += " " + std::string(to_string(problem.operands)) + " [" + std::to_string(sizes.rows) +
          ", " + std::to_string(sizes.depth) + "] x [" + std::to_string(sizes.depth) + ", " +
          std::to_string(sizes.columns) + "]: " + std::string(choice.name);
  for (std::size_t i = 0; i < choice.refused.size(); ++i) {
    const GemmRefusal& refusal = choice.refused[i];
    text += (i == 0 ? " (" : "; ") + std::string(refusal.name) + ": " + refusal.reason;
  }
  return choice.refused.empty() ? text : text + ")";
}

}  // namespace fourhold::engine
