// What Aleph Alpha's runs hold of their logits.
#include <cstdint>

#include <gtest/gtest.h>

#include "fourhold/measured/row_setup.h"
#include "fourhold/predict/memory.h"
#include "tests/unit/measured/builtin_row.h"

namespace fourhold::measured {
namespace {

RowSetup setup_of_row(const std::string& id) {
  Catalogue catalogue;
  return setup_of(builtin_row(id), catalogue).setup.value();
}

std::int64_t peak_with(RowSetup setup, model::LossSaving loss) {
  setup.profile.switches.loss = loss;
  return predict::predict_memory(setup.config, setup.plan, setup.profile, predict::WithLedger::no)
      .allocated_bytes.count();
}

// 8 sequences of 2,048 tokens, 128,000 words, tp 2: the peak is where the loss goes backward. There
// eager PyTorch holds 14 bytes per logit, 7 on each of two ranks; gathered they are 14 on both, and
// 2 more of the micro-batch before.
TEST(AlephMemory, LogitsAreGatheredAndKeptOneMicroBatchLonger) {
  const RowSetup setup = setup_of_row("aleph-0094");
  ASSERT_EQ(setup.plan.tp, 2);
  EXPECT_EQ(setup.profile.switches.loss, model::LossSaving::eager_gathered);
  constexpr std::int64_t kLogits = std::int64_t{8} * 2048 * 128000;
  EXPECT_EQ(peak_with(setup, model::LossSaving::eager_gathered) -
                peak_with(setup, model::LossSaving::eager_held),
            (16 - 7) * kLogits);
}

// core/nn/attention/attention.py: of one sequence v stays a slice of the joint product.
TEST(AlephMemory, JointProductStaysWhereThereIsOneSequence) {
  EXPECT_EQ(setup_of_row("aleph-0094").profile.switches.fused_qkv, model::FusedQkv::separate);
  EXPECT_EQ(setup_of_row("aleph-0192").profile.switches.fused_qkv, model::FusedQkv::views);
}

}  // namespace
}  // namespace fourhold::measured
