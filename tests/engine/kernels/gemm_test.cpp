#include "fourhold/engine/kernels/gemm.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fourhold/engine/kernels/amx_pack.h"
#include "fourhold/engine/kernels/gemm_candidates.h"
#include "tests/engine/kernels/amx_emulation.h"
#include "tests/engine/kernels/gemm_reference.h"

namespace fourhold::engine {
namespace {

// A kernel that can run on this machine, with the instruction set its scratch is for.
struct Kernel {
  std::string name;
  Isa isa = Isa::portable;
  std::unique_ptr<const Gemm> (*prepare)(const GemmProblem& problem) = nullptr;  // emulated
};

std::vector<Kernel> kernels_here() {
  std::vector<Kernel> kernels{
      {"emulated amx, plain packing", Isa::amx, emulated_amx_gemm<PlainTilePacking>}};
  if (best_isa() >= Isa::avx512) {
    kernels.push_back({"emulated amx", Isa::amx, emulated_amx_gemm<Avx512TilePacking>});
  }
  for (int isa = 0; isa <= static_cast<int>(best_isa()); ++isa) {
    kernels.push_back({std::string(to_string(static_cast<Isa>(isa))), static_cast<Isa>(isa)});
  }
  return kernels;
}

// Null where the kernel does not do the problem: the emulation is for bf16 alone.
std::unique_ptr<const Gemm> prepare(const Kernel& kernel, const GemmProblem& problem) {
  if (kernel.prepare == nullptr) return choose_gemm(problem, kernel.isa).gemm;
  return problem.operands == DType::bf16 ? kernel.prepare(problem) : nullptr;
}

void check_on_every_kernel(const GemmProblem& problem) {
  for (const Kernel& kernel : kernels_here()) {
    SCOPED_TRACE(kernel.name);
    const auto gemm = prepare(kernel, problem);
    if (gemm == nullptr) continue;
    GemmCase(problem).run_and_check(*gemm, problem.scratch_bytes(kernel.isa));
    if (testing::Test::HasFatalFailure()) return;
  }
}

constexpr std::array kForms{GemmForm::forward, GemmForm::backward_data, GemmForm::backward_weight};

TEST(Gemm, EveryFormIsTheProductByDefinitionAtOddSizes) {
  for (const GemmForm form : kForms) {
    for (const DType dtype : {DType::bf16, DType::fp32}) {
      for (const GemmSizes& sizes :
           {GemmSizes{1, 1, 1}, GemmSizes{1, 17, 33}, GemmSizes{17, 1, 100}, GemmSizes{33, 100, 1},
            GemmSizes{100, 33, 17}, GemmSizes{31, 257, 47}, GemmSizes{64, 96, 128}}) {
        SCOPED_TRACE("form " + std::to_string(static_cast<int>(form)) + ", m " +
                     std::to_string(sizes.m) + ", n " + std::to_string(sizes.n) + ", k " +
                     std::to_string(sizes.k));
        GemmProblem problem{form, sizes, dtype, dtype};
        problem.threads = 2;
        check_on_every_kernel(problem);
      }
    }
  }
}

// 1100 and 1601 addends take several depth blocks with every kernel, 1100 rows or columns two
// tiles.
TEST(Gemm, SumsOverSeveralBlocksAndTilesAreComplete) {
  for (const GemmForm form : kForms) {
    for (const DType dtype : {DType::bf16, DType::fp32}) {
      for (const GemmSizes& sizes :
           {GemmSizes{1601, 37, 50}, GemmSizes{50, 1100, 37}, GemmSizes{37, 50, 1601}}) {
        check_on_every_kernel({form, sizes, dtype, DType::fp32});
      }
    }
  }
}

TEST(Gemm, AccumulatingAddsToTheDestinationAndRoundsOnce) {
  for (const GemmForm form : kForms) {
    for (const DType output : {DType::bf16, DType::fp32}) {
      check_on_every_kernel({form, {257, 100, 33}, DType::bf16, output, Destination::accumulate});
    }
  }
}

TEST(Gemm, TheForwardProductTakesABiasAndAResidual) {
  for (const DType extra : {DType::bf16, DType::fp32}) {
    GemmProblem problem{GemmForm::forward, {65, 100, 130}, DType::bf16, DType::bf16};
    problem.bias = extra;
    check_on_every_kernel(problem);
    problem.residual = extra;
    check_on_every_kernel(problem);
    problem.destination = Destination::accumulate;
    check_on_every_kernel(problem);
  }
}

TEST(Gemm, TheResidualMayBeTheOutputItself) {
  GemmProblem problem{GemmForm::forward, {65, 100, 130}, DType::bf16, DType::bf16};
  for (const Kernel& kernel : kernels_here()) {
    problem.residual.reset();
    problem.destination = Destination::accumulate;
    GemmCase added(problem);
    added.run_and_check(*prepare(kernel, problem), problem.scratch_bytes(kernel.isa));
    problem.residual = DType::bf16;
    problem.destination = Destination::overwrite;
    GemmCase aliased(problem);
    // The same seed draws the same operands and output first.
    GemmOperands operands = aliased.operands();
    operands.residual = operands.output;
    GuardedBytes scratch(problem.scratch_bytes(kernel.isa));
    prepare(kernel, problem)->run(operands, scratch.bytes());
    EXPECT_EQ(aliased.output_bytes(), added.output_bytes()) << kernel.name;
  }
}

TEST(Gemm, TheNumberOfThreadsChangesNoBit) {
  for (const GemmForm form : kForms) {
    for (const Kernel& kernel : kernels_here()) {
      GemmProblem problem{form, {130, 150, 1030}, DType::bf16, DType::fp32};
      if (kernel.prepare != nullptr) problem.sizes = {70, 130, 530};
      std::vector<std::byte> first;
      for (int threads = 1; threads <= 4; ++threads) {
        problem.threads = threads;
        GemmCase one(problem);
        GuardedBytes scratch(problem.scratch_bytes(kernel.isa));
        prepare(kernel, problem)->run(one.operands(), scratch.bytes());
        if (threads == 1) first = one.output_bytes();
        EXPECT_EQ(one.output_bytes(), first) << kernel.name << ", " << threads << " threads";
      }
    }
  }
}

RC_GTEST_PROP(Gemm, AnyShapeIsTheProductByDefinition, ()) {
  GemmProblem problem;
  problem.form = *rc::gen::elementOf(kForms);
  problem.sizes = {*rc::gen::inRange<std::int64_t>(1, 90), *rc::gen::inRange<std::int64_t>(1, 90),
                   *rc::gen::inRange<std::int64_t>(1, 90)};
  problem.operands = *rc::gen::element(DType::bf16, DType::fp32);
  problem.output = *rc::gen::element(DType::bf16, DType::fp32);
  problem.destination = *rc::gen::element(Destination::overwrite, Destination::accumulate);
  problem.threads = *rc::gen::inRange(1, 4);
  check_on_every_kernel(problem);
  RC_ASSERT(!testing::Test::HasFailure());
}

// Whole numbers below 256 are exact in bf16, and so are their products and sums in fp32.
TEST(Gemm, WholeNumbersAreMultipliedExactly) {
  for (const Kernel& kernel : kernels_here()) {
    const GemmProblem problem{GemmForm::forward, {2, 2, 3}, DType::bf16, DType::fp32};
    GemmCase one(problem);
    const GemmOperands operands = one.operands();
    for (std::size_t i = 0; i < 6; ++i) {
      operands.left.as<Bf16>()[i] = to_bf16(static_cast<float>(i + 1));    // 1 2 3 / 4 5 6
      operands.right.as<Bf16>()[i] = to_bf16(static_cast<float>(10 * i));  // 0 10 20 / 30 40 50
    }
    GuardedBytes scratch(problem.scratch_bytes(kernel.isa));
    prepare(kernel, problem)->run(operands, scratch.bytes());
    const auto y = operands.output.as<float>();
    EXPECT_EQ(std::vector<float>(y.begin(), y.end()), (std::vector<float>{80, 260, 170, 620}))
        << kernel.name;
  }
}

}  // namespace
}  // namespace fourhold::engine
