// The ledger of one rank written out: one entry per tensor, with absolute steps. The engine
// reserves it and the compact ledger is held to it.
#pragma once

#include "fourhold/ledger/ledger.h"
#include "fourhold/plan/profile.h"
#include "fourhold/plan/program.h"

namespace fourhold::predict {

// Walks every step of the stage's program (plan/expand.h) and books first and last use of each
// tensor: nothing of the compact form's arithmetic is used. Peak and copies_at_peak are marked.
[[nodiscard]] ledger::Ledger expanded_ledger(const model::ModelConfig& config,
                                             const plan::Plan& plan, const plan::Profile& profile,
                                             std::int64_t stage);

}  // namespace fourhold::predict
