// Published peaks of Megatron-Core's functional tests, one row for each part that the profile and
// the row's facts decide: nothing here is fitted, so each must follow closely.
#include <algorithm>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "fourhold/measured/comparison.h"
#include "fourhold/measured/exclusions.h"
#include "tests/unit/measured/builtin_row.h"

namespace fourhold::measured {
namespace {

// Predicted over published allocated memory, in percent above 0.
double error_of(const std::string& id) {
  Catalogue catalogue;
  const Exclusions none("id,when,aspect,reason,source\n", "none");
  const RowResult result = compare_row(builtin_row(id), none, catalogue, 0);
  const auto found =
      std::find_if(result.comparisons.begin(), result.comparisons.end(),
                   [](const Comparison& one) { return one.metric == Metric::memory_allocated; });
  return found == result.comparisons.end() ? 1e9 : found->error_percent();
}

TEST(MegatronCore, WorkspacesFollowTheDevice) {
  EXPECT_NEAR(error_of("mcoretest-0018"), 0, 0.1);  // A100: 2 x 32 + 4 MiB
  EXPECT_NEAR(error_of("mcoretest-0019"), 0, 0.1);  // GB200: 3 x 32 MiB
  EXPECT_NEAR(error_of("mcoretest-0020"), 0, 0.1);  // H100
}

TEST(MegatronCore, FlashAttentionKeepsItsOutputTwiceAndCudnnDoesNot) {
  EXPECT_NEAR(error_of("mcoretest-0024"), 0, 0.15);  // A100, FlashAttention
  EXPECT_NEAR(error_of("mcoretest-0026"), 0, 0.15);  // H100, cuDNN
  EXPECT_NEAR(error_of("mcoretest-0027"), 0, 0.15);  // GB200, FlashAttention
  EXPECT_NEAR(error_of("mcoretest-0009"), 0, 0.5);   // A100, one sequence: no copy
}

TEST(MegatronCore, LayersWithoutTransformerEngineKeepABufferOfScores) {
  EXPECT_NEAR(error_of("mcoretest-0233"), 0, 0.1);  // fp16, ZeRO-1
  EXPECT_NEAR(error_of("mcoretest-0236"), 0, 0.5);  // two stages
  EXPECT_NEAR(error_of("mcoretest-0249"), 0, 1.5);  // fp16 over four ranks
}

TEST(MegatronCore, ExpertsKeepTheirActivationBeforeItIsScaled) {
  EXPECT_NEAR(error_of("mcoretest-0275"), 0, 0.5);
  EXPECT_NEAR(error_of("mcoretest-0277"), 0, 0.5);
}

}  // namespace
}  // namespace fourhold::measured
