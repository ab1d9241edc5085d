#include "fourhold/engine/kernels/isa.h"

#include <gtest/gtest.h>

#include <string>

#include "fourhold/base/error.h"

namespace fourhold::engine {
namespace {

TEST(IsaOfPlan, AutoIsTheBestOfTheMachineAndPortableIsAlwaysThere) {
  EXPECT_EQ(isa_of_plan("auto"), best_isa());
  EXPECT_EQ(isa_of_plan("portable"), Isa::portable);
  EXPECT_EQ(isa_of_plan(to_string(best_isa())), best_isa());
}

// The compiler's own look at the CPU is the outside source.
TEST(BestIsa, IsNotAboveWhatTheCompilerSeesAndNotBelowAvx2) {
  EXPECT_EQ(best_isa() >= Isa::avx2,
            __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(best_isa() >= Isa::avx512,
            __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0);
}

TEST(IsaOfPlan, RefusesWhatTheMachineLacksAndSaysWhatItHas) {
  try {
    (void)isa_of_plan("amx", Isa::avx2);
    FAIL() << "amx was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "--isa");
    EXPECT_EQ(std::string(error.what()), "this machine has no amx; its best is avx2");
    EXPECT_EQ(error.hint(), "use --isa avx2 or --isa auto");
  }
}

TEST(IsaOfPlan, AnUnknownNameGetsANearOne) {
  try {
    (void)isa_of_plan("avx-512");
    FAIL() << "avx-512 was taken";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "there is no instruction set 'avx-512'");
    EXPECT_NE(error.hint().find("avx512"), std::string::npos) << error.hint();
  }
}

}  // namespace
}  // namespace fourhold::engine
