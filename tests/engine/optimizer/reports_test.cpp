// Field reports: what people met with weights kept in bf16 alone, one test each.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fourhold/engine/optimizer/hyperparameters.h"
#include "fourhold/engine/optimizer/update.h"
#include "tests/engine/optimizer/owned_shard.h"

namespace fourhold::engine {
namespace {

using plan::Precision;

// Lion moves by the learning rate against the gradient's sign: a step of a known size.
UpdateReport descend(OwnedShard& shard, Precision precision, double rate, int steps) {
  Hyperparameters lion;
  lion.optimizer = plan::Optimizer::lion;
  lion.weight_decay = 0;
  UpdateReport total;
  for (int step = 1; step <= steps; ++step) {
    total += update(shard.view(), step_factors(lion, WeightDecay::decayed, step, rate, 1),
                    {precision}, Pass::write);
  }
  return total;
}

// workofart/ml-by-hand 85: 100 steps of 6e-4 from 1.0, where bf16 goes in steps of 2^-8 = 3.9e-3
// downwards: 0 of 768 weights moved. A master comes to 1 - 0.06 = 0.94, whose nearest bf16 is
// 0.94140625 = 241 / 256.
TEST(Reports, AWeightOfOneInBf16AloneNeverMovesWhereItsMasterComesTo094) {
  const std::vector<float> ones(768, 1.0F);
  const std::vector<float> gradient(768, 1.0F);
  OwnedShard pure(Precision::bf16_pure, ones);
  pure.set_gradient(gradient);
  const UpdateReport lost = descend(pure, Precision::bf16_pure, 6e-4, 100);
  EXPECT_EQ(lost.nonzero, 768 * 100);
  EXPECT_EQ(lost.lost, 768 * 100);
  OwnedShard kept(Precision::bf16, ones);
  kept.set_gradient(gradient);
  EXPECT_EQ(descend(kept, Precision::bf16, 6e-4, 100).lost, 0);
  for (std::size_t i = 0; i < ones.size(); ++i) {
    ASSERT_EQ(pure.weight(i), 1.0F);
    ASSERT_NEAR(kept.authoritative(i), 0.94, 1e-4);
    ASSERT_EQ(kept.weight(i), 0.94140625F);
  }
}

// NVIDIA-NeMo/Automodel 3444: at 0.02 bf16 goes in steps of 2^-13 = 1.22e-4, of which 6e-6 is a
// twentieth. What stays is 0.02 as bf16: 164 x 2^-13 = 0.02001953125.
TEST(Reports, FiveSmallStepsAtTwoHundredthsAreLostInBf16AndKeptByAMaster) {
  OwnedShard pure(Precision::bf16_pure, {0.02F});
  pure.set_gradient({1});
  EXPECT_EQ(descend(pure, Precision::bf16_pure, 6e-6, 5).lost, 5);
  EXPECT_EQ(pure.weight(0), 0.02001953125F);
  OwnedShard kept(Precision::bf16, {0.02F});
  kept.set_gradient({1});
  EXPECT_EQ(descend(kept, Precision::bf16, 6e-6, 5).lost, 0);
  EXPECT_NEAR(kept.authoritative(0), 0.02 - 5 * 6e-6, 1e-8);
}

}  // namespace
}  // namespace fourhold::engine
