// The ledger of a run that generates text: weights, the cache, and the activations of one pass.
// Expanded, with absolute steps: first those of the pass over the prompt, if there is one, then
// those of the pass that chooses a token.
#pragma once

#include "fourhold/ledger/ledger.h"
#include "fourhold/plan/lower_sample.h"

namespace fourhold::predict {

// Weights and caches are alive in every step; an entry of a pass has the pass's number in the place
// of its micro-batch. `plan` as lower_sample takes it.
[[nodiscard]] ledger::Ledger sample_ledger(const model::ModelConfig& config, const plan::Plan& plan,
                                           const plan::Profile& profile,
                                           const plan::SampleSizes& sizes);

}  // namespace fourhold::predict
