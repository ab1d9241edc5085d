#include "fourhold/engine/kernels/gemm_candidates.h"

#include <gtest/gtest.h>

#include "fourhold/engine/kernels/onednn.h"
#include "tests/engine/kernels/gemm_reference.h"

namespace fourhold::engine {
namespace {

TEST(GemmCandidates, ThePortableKernelIsTheLastOne) {
  EXPECT_EQ(gemm_candidates().back().name, "portable");
}

TEST(GemmCandidates, AForcedInstructionSetIsTheOneThatRuns) {
  const GemmProblem problem{GemmForm::forward, {64, 64, 64}, DType::bf16, DType::bf16};
  for (int i = 0; i <= static_cast<int>(best_isa()); ++i) {
    const auto isa = static_cast<Isa>(i);
    if (isa == Isa::portable && best_isa() == Isa::portable) continue;  // oneDNN may come first
    EXPECT_EQ(choose_gemm(problem, isa).name, to_string(isa));
  }
}

TEST(GemmCandidates, EveryRefusalSaysWhy) {
  const GemmProblem problem{GemmForm::forward, {64, 64, 64}, DType::fp32, DType::fp32};
  const GemmChoice choice = choose_gemm(problem, Isa::portable);
  ASSERT_GE(choice.refused.size(), 4U);
  EXPECT_EQ(choice.refused[0].name, "amx");
  EXPECT_EQ(choice.refused[0].reason, "needs amx");
  EXPECT_EQ(choice.refused[3].reason, "needs avx2");
  if (best_isa() != Isa::portable) {
    EXPECT_EQ(describe(problem, choice),
              "forward fp32 [64, 64] x [64, 64]: portable (amx: needs amx; avx512_bf16: needs "
              "avx512_bf16; avx512: needs avx512; avx2: needs avx2; onednn: chooses its own "
              "instructions, and portable is asked for)");
  }
}

TEST(GemmCandidates, InstructionsForBf16ServeNoFp32) {
  const GemmProblem problem{GemmForm::forward, {64, 64, 64}, DType::fp32, DType::fp32};
  const GemmPreparation prepared = gemm_candidates()[0].prepare(problem, Isa::amx);
  EXPECT_EQ(prepared.gemm, nullptr);
  EXPECT_EQ(prepared.refusal, "multiplies bf16 only");
}

// oneDNN in memory of its own need, against the product by definition.
TEST(Onednn, IsTheProductByDefinitionWhereItApplies) {
  for (const GemmForm form :
       {GemmForm::forward, GemmForm::backward_data, GemmForm::backward_weight}) {
    for (const DType dtype : {DType::bf16, DType::fp32}) {
      for (const Destination destination : {Destination::overwrite, Destination::accumulate}) {
        GemmProblem problem{form, {100, 130, 257}, dtype, DType::fp32, destination};
        if (form == GemmForm::forward) {
          problem.bias = DType::fp32;
          problem.residual = dtype;
        }
        const OnednnPreparation prepared = onednn_gemm(problem);
        if (prepared.gemm == nullptr) {
          EXPECT_FALSE(prepared.refusal.empty());
          continue;
        }
        GemmCase(problem).run_and_check(*prepared.gemm, prepared.scratch_bytes);
      }
    }
  }
}

}  // namespace
}  // namespace fourhold::engine
