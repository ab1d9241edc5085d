#include "fourhold/engine/optimizer/hyperparameters.h"

#include <cassert>
#include <cmath>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "fourhold/base/error.h"

namespace fourhold::engine {
namespace {

std::string name_of(plan::Optimizer optimizer) {
  return std::string(plan::kOptimizerNames[static_cast<std::size_t>(optimizer)]);
}

void check_beta(const char* where, double beta) {
  if (beta >= 0 && beta < 1) return;
  throw Error(where, fmt::format("must be at least 0 and below 1, not {:g}", beta),
              "0.9 and 0.95 are usual");
}

// Divides where a weight has never had a gradient: both moments are 0 there.
void check_epsilon(double epsilon) {
  constexpr double kLeast = std::numeric_limits<float>::min();  // with all its bits in fp32
  if (epsilon >= kLeast && std::isfinite(epsilon)) return;
  throw Error("--epsilon",
              fmt::format("must be at least {:.4g} and finite, not {:g}: 0 / 0 is no update",
                          kLeast, epsilon),
              "1e-8 is usual");
}

void check_not_negative(const char* where, double value, const char* hint) {
  if (value >= 0 && std::isfinite(value)) return;
  throw Error(where, fmt::format("must be at least 0 and finite, not {:g}", value), hint);
}

}  // namespace

void check_runs(plan::Optimizer optimizer, plan::Precision precision) {
  if (optimizer != plan::Optimizer::adamw && optimizer != plan::Optimizer::lion &&
      optimizer != plan::Optimizer::sgd_momentum) {
    throw Error("--optimizer", "the engine does not run " + name_of(optimizer),
                "choose adamw, lion or sgd");
  }
  if (precision == plan::Precision::fp16) {
    throw Error("--precision", "the engine does not run fp16: it has no loss scaling",
                "choose bf16, which costs the same bytes and needs none");
  }
}

void check_supported(const Hyperparameters& hyperparameters, plan::Precision precision) {
  const plan::Optimizer optimizer = hyperparameters.optimizer;
  check_runs(optimizer, precision);
  check_beta("--beta1", hyperparameters.beta1);
  if (optimizer != plan::Optimizer::sgd_momentum) check_beta("--beta2", hyperparameters.beta2);
  if (optimizer == plan::Optimizer::adamw) check_epsilon(hyperparameters.epsilon);
  check_not_negative("--weight-decay", hyperparameters.weight_decay, "0.1 is usual, 0 is none");
}

StepFactors step_factors(const Hyperparameters& hyperparameters, WeightDecay decay,
                         std::int64_t step, double learning_rate, double gradient_scale) {
  assert(step >= 1 && "steps count from 1");
  assert(gradient_scale >= 0 && gradient_scale <= 1 && "clipping never enlarges a gradient");
  const bool is_sgd = hyperparameters.optimizer == plan::Optimizer::sgd_momentum;
  const double weight_decay = decay == WeightDecay::decayed ? hyperparameters.weight_decay : 0;
  StepFactors factors;
  factors.optimizer = hyperparameters.optimizer;
  factors.gradient_scale = static_cast<float>(gradient_scale);
  factors.beta1 = static_cast<float>(hyperparameters.beta1);
  factors.one_minus_beta1 = static_cast<float>(1 - hyperparameters.beta1);
  factors.beta2 = static_cast<float>(hyperparameters.beta2);
  factors.one_minus_beta2 = static_cast<float>(1 - hyperparameters.beta2);
  factors.step_size = static_cast<float>(learning_rate);
  factors.decay = static_cast<float>(is_sgd ? weight_decay : learning_rate * weight_decay);
  if (hyperparameters.optimizer == plan::Optimizer::adamw) {
    const auto t = static_cast<double>(step);
    const double correction1 = 1 - std::pow(hyperparameters.beta1, t);
    const double correction2 = 1 - std::pow(hyperparameters.beta2, t);
    factors.step_size = static_cast<float>(learning_rate / correction1);
    factors.inverse_root_correction = static_cast<float>(1 / std::sqrt(correction2));
    factors.epsilon = static_cast<float>(hyperparameters.epsilon);
  }
  return factors;
}

}  // namespace fourhold::engine
