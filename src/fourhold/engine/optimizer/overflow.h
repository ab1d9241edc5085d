// That the last finite weights are kept: nothing is written before it is known to be finite.
//
// A step goes in this order, and every rank waits for the others' answers before it writes:
//   1. the loss:      require_finite_loss
//   2. the gradients: squared_norm of all, require_finite_gradient
//   3. the weights:   where may_overflow is true of any shard on any rank, update(Pass::check) of
//                     all shards and require_finite_update
//   4. update(Pass::write) of all shards
// Step 3 costs a comparison in a healthy run: from the magnitudes that the last step reported and
// the largest gradient, may_overflow proves that no weight and no moment can leave fp32 or bf16.
// The first step after a start or a resume has no report, and is checked. So a run that stops with
// an Error has written nothing of the step it names; its weights are those of the step before.
#pragma once

#include <cstdint>

#include "fourhold/engine/optimizer/gradient_norm.h"
#include "fourhold/engine/optimizer/hyperparameters.h"
#include "fourhold/engine/optimizer/update.h"

namespace fourhold::engine {

// Upper bounds of magnitudes before a step: of weights and first moments (UpdateReport of the step
// before), of gradients before clipping (SquaredNorm).
struct Magnitudes {
  float weight = 0;
  float moment1 = 0;
  float gradient = 0;
};

// False only if no element with these magnitudes can become infinite or NaN; true may be too
// careful. The bound on adamw's change is step_size max(m, g) / epsilon, so epsilon 0 is always
// true.
[[nodiscard]] bool may_overflow(const StepFactors& factors, const Magnitudes& magnitudes);

// Each throws Error (exit code 1) naming the step, what is not finite and what to try.
void require_finite_loss(double loss, std::int64_t step);
void require_finite_gradient(const SquaredNorm& norm, std::int64_t step);
void require_finite_update(const UpdateReport& checked, std::int64_t step);

}  // namespace fourhold::engine
