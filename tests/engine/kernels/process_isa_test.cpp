#include "fourhold/engine/kernels/process_isa.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>

namespace fourhold::engine {
namespace {

// Highway's own choice, of kernels that are not told which version to run.
TEST(LimitProcessTo, LeavesHighwayTheTargetsOfTheInstructionSetAlone) {
  const std::int64_t all = hwy::SupportedTargets();
  limit_process_to(Isa::portable);
  EXPECT_EQ(hwy::SupportedTargets(),
            best_isa() == Isa::portable ? all : std::int64_t{HWY_STATIC_TARGET});
  if (best_isa() > Isa::avx2) {
    limit_process_to(Isa::avx2);
    EXPECT_EQ(hwy::SupportedTargets(), std::int64_t{HWY_AVX2});
  }
  limit_process_to(best_isa());
  EXPECT_EQ(hwy::SupportedTargets(), all);
}

}  // namespace
}  // namespace fourhold::engine
