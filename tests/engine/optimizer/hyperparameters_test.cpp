#include "fourhold/engine/optimizer/hyperparameters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "fourhold/base/error.h"

namespace fourhold::engine {
namespace {

using plan::Optimizer;
using plan::Precision;

std::string refusal(const Hyperparameters& hyperparameters, Precision precision = Precision::bf16) {
  try {
    check_supported(hyperparameters, precision);
  } catch (const Error& error) {
    return error.where() + ": " + error.what() + " / " + error.hint();
  }
  return "accepted";
}

// beta1 = 0.9 and beta2 = 0.99 at step 2: corrections 1 - 0.81 and 1 - 0.9801.
TEST(StepFactors, AdamwCorrectsTheBiasOfItsMoments) {
  const auto factors =
      step_factors({Optimizer::adamw, 0.9, 0.99, 1e-8, 0.1}, WeightDecay::decayed, 2, 0.01, 1);
  EXPECT_FLOAT_EQ(factors.step_size, static_cast<float>(0.01 / 0.19));
  EXPECT_FLOAT_EQ(factors.inverse_root_correction, static_cast<float>(1 / std::sqrt(0.0199)));
  EXPECT_FLOAT_EQ(factors.decay, 0.001F);
  EXPECT_FLOAT_EQ(factors.one_minus_beta1, 0.1F);
}

TEST(StepFactors, AnUndecayedParameterHasNoDecay) {
  for (const Optimizer optimizer : {Optimizer::adamw, Optimizer::lion, Optimizer::sgd_momentum}) {
    Hyperparameters hyperparameters;
    hyperparameters.optimizer = optimizer;
    EXPECT_EQ(step_factors(hyperparameters, WeightDecay::none, 1, 0.1, 1).decay, 0);
    EXPECT_GT(step_factors(hyperparameters, WeightDecay::decayed, 1, 0.1, 1).decay, 0);
  }
}

TEST(ParameterGroups, MatricesAndEmbeddingsDecayVectorsDoNot) {
  EXPECT_EQ(weight_decay_of(model::ParameterRole::matrix), WeightDecay::decayed);
  EXPECT_EQ(weight_decay_of(model::ParameterRole::embedding), WeightDecay::decayed);
  EXPECT_EQ(weight_decay_of(model::ParameterRole::vector), WeightDecay::none);
}

TEST(Hyperparameters, EveryOptimizerOfTheEngineRunsInEveryPrecisionOfTheEngine) {
  for (const Optimizer optimizer : {Optimizer::adamw, Optimizer::lion, Optimizer::sgd_momentum}) {
    for (const Precision precision :
         {Precision::fp32, Precision::bf16, Precision::bf16_split, Precision::bf16_kahan,
          Precision::bf16_sr, Precision::bf16_pure}) {
      Hyperparameters hyperparameters;
      hyperparameters.optimizer = optimizer;
      EXPECT_EQ(refusal(hyperparameters, precision), "accepted");
    }
  }
}

TEST(Hyperparameters, WhatTheEngineCannotRunIsRefused) {
  EXPECT_EQ(refusal({Optimizer::muon}),
            "--optimizer: the engine does not run muon / choose adamw, lion or sgd");
  EXPECT_EQ(
      refusal({}, Precision::fp16),
      "--precision: the engine does not run fp16: it has no loss scaling / choose bf16, which "
      "costs the same bytes and needs none");
  EXPECT_EQ(refusal({Optimizer::adamw, 1.0}),
            "--beta1: must be at least 0 and below 1, not 1 / 0.9 and 0.95 are usual");
  EXPECT_EQ(refusal({Optimizer::lion, 0.9, -0.1}).substr(0, 8), "--beta2:");
  EXPECT_EQ(refusal({Optimizer::sgd_momentum, 1.5, 7}).substr(0, 8), "--beta1:");
  EXPECT_EQ(refusal({Optimizer::adamw, 0.9, 0.95, -1}).substr(0, 10), "--epsilon:");
  EXPECT_EQ(refusal({Optimizer::adamw, 0.9, 0.95, 0}).substr(0, 10), "--epsilon:");
  EXPECT_EQ(refusal({Optimizer::adamw, 0.9, 0.95, 1e-46}).substr(0, 10), "--epsilon:");
  EXPECT_EQ(refusal({Optimizer::lion, 0.9, 0.95, 0}), "accepted");
  EXPECT_EQ(refusal({Optimizer::adamw, 0.9, 0.95, 1e-8, std::nan("")}).substr(0, 15),
            "--weight-decay:");
}

}  // namespace
}  // namespace fourhold::engine
