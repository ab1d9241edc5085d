#include "fourhold/plan/recipe.h"

#include <vector>

#include <gtest/gtest.h>

#include "fourhold/plan/plan.h"
#include "fourhold/plan/profile.h"

namespace fourhold::plan {
namespace {

using model::Dim;
using model::Parameter;
using model::ParameterRole;
using model::TensorName;

const Parameter kMatrix{TensorName::up_weight, {{Dim::ffn, 40}, {Dim::hidden, 30}}};

std::int64_t bytes_of_state(const InlineVector<StateTensor, 2>& state) {
  std::int64_t bytes = 0;
  for (const StateTensor& tensor : state) {
    bytes += bytes_of(tensor.elements, tensor.dtype) + 4 * tensor.scale_elements;
  }
  return bytes;
}

// Weight, gradient, master and AdamW moments of one parameter.
std::int64_t bytes_per_parameter(const Recipe& recipe) {
  constexpr std::int64_t kElements = 1200;
  const std::int64_t state = bytes_of_state(optimizer_state(recipe, kMatrix, kElements));
  return bytes_of(1, recipe.weight) + bytes_of(1, recipe.gradient) + recipe.master_bytes +
         state / kElements;
}

Plan with(Precision precision, GradientAccumulation accumulation = {}) {
  Plan plan;
  plan.precision = precision;
  plan.gradient_accumulation = accumulation;
  return plan;
}

TEST(Recipe, EveryPrecisionCostsItsStatedBytesPerParameter) {
  const Profile standard;
  EXPECT_EQ(bytes_per_parameter(recipe_of(with(Precision::fp32), standard)), 16);  // 4+4+0+8
  EXPECT_EQ(bytes_per_parameter(recipe_of(with(Precision::bf16), standard)), 16);  // 2+2+4+8
  EXPECT_EQ(bytes_per_parameter(recipe_of(with(Precision::fp16), standard)), 16);
  EXPECT_EQ(bytes_per_parameter(recipe_of(with(Precision::bf16_split), standard)), 14);  // 2+2+2+8
  EXPECT_EQ(bytes_per_parameter(recipe_of(with(Precision::bf16_kahan), standard)), 14);
  EXPECT_EQ(bytes_per_parameter(recipe_of(with(Precision::bf16_sr), standard)), 12);  // 2+2+0+8
  EXPECT_EQ(bytes_per_parameter(recipe_of(with(Precision::bf16_pure), standard)), 12);
}

// 1,200 elements: 4, 2, or 1 byte each and 10 fp32 scales, of 128 elements.
TEST(Recipe, MomentsMayHaveFormatsOfTheirOwn) {
  const Profile standard;
  const auto moments = [&standard](Optimizer optimizer, MomentFormat first, MomentFormat second) {
    Plan plan;
    plan.optimizer = optimizer;
    plan.first_moment = first;
    plan.second_moment = second;
    return bytes_of_state(optimizer_state(recipe_of(plan, standard), kMatrix, 1200));
  };
  using enum MomentFormat;
  EXPECT_EQ(moments(Optimizer::adamw, automatic, automatic), 4800 + 4800);
  EXPECT_EQ(moments(Optimizer::adamw, bf16, bf16), 2400 + 2400);
  EXPECT_EQ(moments(Optimizer::adamw, fp8, bf16), 1240 + 2400);
  EXPECT_EQ(moments(Optimizer::adamw, bf16, fp32), 2400 + 4800);
  EXPECT_EQ(moments(Optimizer::lion, bf16, automatic), 2400);
  EXPECT_EQ(moments(Optimizer::muon, bf16, bf16), 2400);  // a matrix of a layer: one momentum
}

TEST(Recipe, APlansMomentsCountBeforeTheProfiles) {
  Profile profile;
  profile.first_moment = MomentFormat::bf16;
  Plan plan;
  EXPECT_EQ(recipe_of(plan, profile).first_moment, MomentFormat::bf16);
  plan.first_moment = MomentFormat::fp32;
  EXPECT_EQ(recipe_of(plan, profile).first_moment, MomentFormat::fp32);
  EXPECT_EQ(recipe_of(plan, profile).second_moment, MomentFormat::automatic);
}

TEST(Recipe, Fp32AccumulationAddsTwoBytesToEverySixteenBitPrecision) {
  const Profile standard;
  for (const Precision precision : {Precision::bf16, Precision::fp16, Precision::bf16_split,
                                    Precision::bf16_kahan, Precision::bf16_sr}) {
    const Recipe plain = recipe_of(with(precision), standard);
    const Recipe wide = recipe_of(with(precision, GradientAccumulation::fp32), standard);
    EXPECT_EQ(bytes_per_parameter(wide), bytes_per_parameter(plain) + 2);
    EXPECT_EQ(wide.block_gradient, plain.compute);  // backward still makes 16 bits
  }
  const Recipe fp32 = recipe_of(with(Precision::fp32, GradientAccumulation::fp32), standard);
  EXPECT_EQ(bytes_per_parameter(fp32), 16);
}

TEST(Recipe, AProfileWithFp32GradientsCostsEighteenBytes) {
  Profile profile;
  profile.fp32_gradients = true;
  EXPECT_EQ(bytes_per_parameter(recipe_of(with(Precision::bf16), profile)), 18);  // 2+4+4+8
}

TEST(Recipe, Fp32OnlyStorageHasNoMasterAndGathersSixteenBits) {
  Profile profile;
  profile.weight_storage = WeightStorage::fp32_only;
  const Recipe recipe = recipe_of(with(Precision::bf16), profile);
  EXPECT_EQ(bytes_per_parameter(recipe), 16);  // 4+4+0+8
  EXPECT_EQ(recipe.weight, DType::fp32);
  EXPECT_EQ(recipe.gradient, DType::fp32);
  EXPECT_EQ(recipe.gathered, DType::bf16);
  EXPECT_EQ(recipe.block_gradient, DType::bf16);
  EXPECT_EQ(recipe.master_bytes, 0);
}

TEST(Recipe, Fp32OnlyStorageLeavesOtherPrecisionsAsAskedFor) {
  Profile profile;
  profile.weight_storage = WeightStorage::fp32_only;
  EXPECT_EQ(bytes_per_parameter(recipe_of(with(Precision::bf16_pure), profile)), 12);
  EXPECT_EQ(bytes_per_parameter(recipe_of(with(Precision::fp32), profile)), 16);
}

TEST(OptimizerState, AdamWKeepsTwoFp32Moments) {
  EXPECT_EQ(bytes_of_state(optimizer_state({}, kMatrix, 1200)), 9600);  // 2 x 4 x 1200
}

TEST(OptimizerState, EightBitAdamWKeepsOneScalePerBlockOf256) {
  Recipe recipe;
  recipe.optimizer = Optimizer::adamw_8bit;
  const auto state = optimizer_state(recipe, kMatrix, 1200);
  EXPECT_EQ(state[0].scale_elements, 5);   // ceil(1200 / 256)
  EXPECT_EQ(bytes_of_state(state), 2440);  // 2 x (1200 + 5 x 4)
}

TEST(OptimizerState, LionAndSgdKeepOneMoment) {
  Recipe recipe;
  recipe.optimizer = Optimizer::lion;
  EXPECT_EQ(bytes_of_state(optimizer_state(recipe, kMatrix, 1200)), 4800);
  recipe.optimizer = Optimizer::sgd_momentum;
  EXPECT_EQ(bytes_of_state(optimizer_state(recipe, kMatrix, 1200)), 4800);
}

TEST(OptimizerState, MuonKeepsOneMomentumForMatricesOfLayersOnly) {
  Recipe recipe;
  recipe.optimizer = Optimizer::muon;
  EXPECT_EQ(optimizer_state(recipe, kMatrix, 10).size(), 1);
  const Parameter norm{TensorName::norm1_weight, {{Dim::hidden, 30}}, ParameterRole::vector};
  EXPECT_EQ(optimizer_state(recipe, norm, 10).size(), 2);
  const Parameter table{
      TensorName::token_embedding, {{Dim::vocab, 50}, {Dim::hidden, 30}}, ParameterRole::embedding};
  EXPECT_EQ(optimizer_state(recipe, table, 10).size(), 2);
  const Parameter head{TensorName::head_weight, {{Dim::vocab, 50}, {Dim::hidden, 30}}};
  EXPECT_EQ(optimizer_state(recipe, head, 10).size(), 2);
}

TEST(OptimizerState, AdafactorKeepsARowAndAColumnOfAMatrix) {
  Recipe recipe;
  recipe.optimizer = Optimizer::adafactor;
  const auto whole = optimizer_state(recipe, kMatrix, 1200);
  EXPECT_EQ(whole[0].elements, 40);
  EXPECT_EQ(whole[1].elements, 30);
  // A quarter of the rows keeps its own row values and the whole column vector.
  const auto quarter = optimizer_state(recipe, kMatrix, 300);
  EXPECT_EQ(quarter[0].elements, 10);
  EXPECT_EQ(quarter[1].elements, 30);
  // Less than a row keeps no more columns than it has values.
  EXPECT_EQ(optimizer_state(recipe, kMatrix, 7)[1].elements, 7);
}

TEST(OptimizerState, AdafactorFactorsEveryExpertAndTheOutputProjectionByItsInputs) {
  Recipe recipe;
  recipe.optimizer = Optimizer::adafactor;
  const Parameter experts{TensorName::expert_up_weight,
                          {{Dim::experts, 3}, {Dim::expert_ffn, 40}, {Dim::hidden, 30}}};
  const auto state = optimizer_state(recipe, experts, 3600);
  EXPECT_EQ(state[0].elements, 120);  // 3 x 40
  EXPECT_EQ(state[1].elements, 90);   // 3 x 30
  const Parameter output{TensorName::o_weight,
                         {{Dim::hidden, 30}, {Dim::heads, 4}, {Dim::head_dim, 5}}};
  const auto projection = optimizer_state(recipe, output, 600);
  EXPECT_EQ(projection[0].elements, 30);  // outputs
  EXPECT_EQ(projection[1].elements, 20);  // 4 x 5 inputs
}

TEST(OptimizerState, AdafactorKeepsAFullSecondMomentOfAVector) {
  Recipe recipe;
  recipe.optimizer = Optimizer::adafactor;
  const Parameter bias{TensorName::up_bias, {{Dim::ffn, 40}}, ParameterRole::vector};
  EXPECT_EQ(bytes_of_state(optimizer_state(recipe, bias, 40)), 160);
}

TEST(OptimizerState, ABufferHasNone) {
  const Parameter buffer{TensorName::correction_bias, {{Dim::other, 8}}, ParameterRole::buffer};
  EXPECT_TRUE(optimizer_state({}, buffer, 8).empty());
}

TEST(FrozenWeight, QloraStoresMatricesOfLayersInFourBitsWithAScalePer64) {
  Plan plan;
  plan.tuning = Tuning::qlora;
  const Recipe recipe = recipe_of(plan, {});
  const StateTensor matrix = frozen_weight(recipe, kMatrix, 1280);
  EXPECT_EQ(bytes_of(matrix.elements, matrix.dtype) + 4 * matrix.scale_elements,
            720);  // 0.5625 x 1280
  const Parameter head{TensorName::head_weight, {{Dim::vocab, 50}, {Dim::hidden, 30}}};
  EXPECT_EQ(frozen_weight(recipe, head, 1500).dtype, DType::bf16);
}

TEST(FrozenWeight, LoraKeepsTheComputeTypeEvenBesideFp32Storage) {
  Plan plan;
  plan.tuning = Tuning::lora;
  Profile profile;
  profile.weight_storage = WeightStorage::fp32_only;
  EXPECT_EQ(frozen_weight(recipe_of(plan, profile), kMatrix, 10).dtype, DType::bf16);
  EXPECT_EQ(frozen_weight(recipe_of(plan, profile), kMatrix, 10).scale_elements, 0);
}

}  // namespace
}  // namespace fourhold::plan
