// What a user sets of an optimizer, and the factors of one step that follow from it.
#pragma once

#include <cstdint>

#include "fourhold/engine/optimizer/parameter_groups.h"
#include "fourhold/plan/recipe.h"

namespace fourhold::engine {

// Defaults are those of nanoGPT's and llm.c's GPT-2 runs (beta2 0.95, decay 0.1).
struct Hyperparameters {
  plan::Optimizer optimizer = plan::Optimizer::adamw;
  double beta1 = 0.9;     // sgd: the momentum
  double beta2 = 0.95;    // sgd: not used
  double epsilon = 1e-8;  // adamw alone
  double weight_decay = 0.1;
};

// Throws Error for what the engine cannot run: optimizers other than adamw, lion and sgd; fp16
// (which would need loss scaling). Fields are named by their flags, here and below.
void check_runs(plan::Optimizer optimizer, plan::Precision precision);

// The same, and Error for a beta outside [0, 1), an epsilon that is 0 in fp32, negative or not
// finite, a negative or non-finite decay.
void check_supported(const Hyperparameters& hyperparameters, plan::Precision precision);

// The factors of one step, computed in double and rounded to fp32 once, so that every shard uses
// the same. With t the step, w the weight, g the scaled gradient:
//
// adamw, I. Loshchilov, F. Hutter, arXiv 1711.05101, alg. 2, as torch.optim.AdamW does it:
//   m <- beta1 m + (1 - beta1) g             v <- beta2 v + (1 - beta2) g^2
//   w <- w - lr decay w - step_size m / (inverse_root_correction sqrt(v) + epsilon)
//   step_size = lr / (1 - beta1^t), inverse_root_correction = 1 / sqrt(1 - beta2^t)
// lion, X. Chen et al., arXiv 2302.06675, alg. 2:
//   w <- w - lr decay w - lr sign(beta1 m + (1 - beta1) g)     m <- beta2 m + (1 - beta2) g
// sgd with momentum, as torch.optim.SGD (dampening 0, no Nesterov; the decay is an L2 term):
//   m <- beta1 m + g + decay w               w <- w - lr m
struct StepFactors {
  plan::Optimizer optimizer = plan::Optimizer::adamw;
  float gradient_scale = 1;  // the clip coefficient
  float beta1 = 0;
  float one_minus_beta1 = 1;
  float beta2 = 0;
  float one_minus_beta2 = 1;
  float step_size = 0;                // lr, of adamw with its bias correction
  float decay = 0;                    // lr times decay; sgd: decay
  float inverse_root_correction = 1;  // adamw
  float epsilon = 0;
};

// `step` counts from 1; `gradient_scale` is in [0, 1].
[[nodiscard]] StepFactors step_factors(const Hyperparameters& hyperparameters, WeightDecay decay,
                                       std::int64_t step, double learning_rate,
                                       double gradient_scale);

}  // namespace fourhold::engine
