#include "fourhold/engine/optimizer/overflow.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "fourhold/base/error.h"

namespace fourhold::engine {
namespace {

// Far enough below fp32's and bf16's 2^128 that no rounding matters.
constexpr double kSafe = 0x1p120;
constexpr double kSafeToSquare = 0x1p60;

// False for NaN.
bool is_safe(double magnitude) { return magnitude < kSafe; }

[[noreturn]] void stop(std::int64_t step, const std::string& what) {
  throw Error("step " + std::to_string(step), what,
              "nothing of this step was written: the weights are those of step " +
                  std::to_string(step - 1) +
                  ". Try a lower learning rate, a longer warm-up or clipping of gradients",
              ExitCode::answer_is_no);
}

}  // namespace

bool may_overflow(const StepFactors& factors, const Magnitudes& magnitudes) {
  const double weight = magnitudes.weight;
  const double gradient = magnitudes.gradient;
  const double old_moment = magnitudes.moment1;
  const double step_size = factors.step_size;
  const double decayed = static_cast<double>(factors.decay) * weight;
  double moment = std::isnan(old_moment) ? old_moment : std::max(old_moment, gradient);
  double change = 0;
  switch (factors.optimizer) {
    case plan::Optimizer::adamw: {
      if (!(factors.epsilon > 0) || !(gradient < kSafeToSquare)) return true;
      const double ratio = moment / static_cast<double>(factors.epsilon);
      if (!is_safe(ratio)) return true;
      change = step_size * ratio + decayed;
      break;
    }
    case plan::Optimizer::lion:
      change = step_size + decayed;
      break;
    default:
      moment = factors.beta1 * old_moment + gradient + decayed;
      change = step_size * moment;
      break;
  }
  return !is_safe(gradient) || !is_safe(moment) || !is_safe(change) || !is_safe(weight + change);
}

void require_finite_loss(double loss, std::int64_t step) {
  if (std::isfinite(loss)) return;
  stop(step, std::isnan(loss) ? "the loss is not a number" : "the loss is infinite");
}

void require_finite_gradient(const SquaredNorm& norm, std::int64_t step) {
  if (norm.nonfinite == 0 && std::isfinite(norm.value())) return;
  stop(step, norm.nonfinite == 0
                 ? std::string("the norm of the gradients is not finite")
                 : std::to_string(norm.nonfinite) + " gradient values are infinite or not numbers");
}

void require_finite_update(const UpdateReport& checked, std::int64_t step) {
  if (checked.nonfinite == 0) return;
  stop(step, std::to_string(checked.nonfinite) + " of " + std::to_string(checked.elements) +
                 " weights or moments would become infinite or not numbers");
}

}  // namespace fourhold::engine
