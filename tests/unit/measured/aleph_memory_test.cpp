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

// core/nn/attention/attention.py: flash attention's output is rearranged for the projection, which
// of one sequence is the same memory.
TEST(AlephMemory, OutputOfSeveralSequencesIsKeptInBothLayouts) {
  using enum model::AttentionSaving;
  EXPECT_EQ(setup_of_row("aleph-0094").profile.switches.attention, flash_merged);
  EXPECT_EQ(setup_of_row("aleph-0192").profile.switches.attention, flash);
}

// core/nn/norm/rms_norm.py gathers before plain linears, which keep what they multiply: on two
// ranks the inputs of a layer's two branches, 2 x 8192 x 5120 bytes each, are whole and not halves;
// at the loss so may be the head's.
TEST(AlephMemory, LinearsKeepWhatSequenceParallelNormsGather) {
  const RowSetup setup = setup_of_row("aleph-0799");
  ASSERT_TRUE(setup.plan.sp);
  ASSERT_EQ(setup.plan.tp, 2);
  const auto kept = [&setup](model::Gathered gathered) {
    RowSetup other = setup;
    other.profile.switches.gathered_inputs = gathered;
    return predict::predict_memory(other.config, other.plan, other.profile, predict::WithLedger::no)
        .allocated_bytes.count();
  };
  const std::int64_t layers = setup.config.layer_count();
  const std::int64_t more = kept(model::Gathered::kept) - kept(model::Gathered::again);
  EXPECT_EQ(setup.profile.switches.gathered_inputs, model::Gathered::kept);
  constexpr std::int64_t kHalf = std::int64_t{8192} * 5120;
  EXPECT_GE(more, 2 * layers * kHalf);
  EXPECT_LE(more, (2 * layers + 1) * kHalf);
}

}  // namespace
}  // namespace fourhold::measured
