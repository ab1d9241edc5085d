// The ledgers of the programs around training: what one rank holds while a run starts, and while it
// saves. Both expanded, with absolute steps, like expanded_ledger's of a training step.
#pragma once

#include "fourhold/ledger/ledger.h"
#include "fourhold/plan/profile.h"
#include "fourhold/plan/program.h"

namespace fourhold::predict {

// ProgramKind::start. Every tensor of state is alive from the step that makes it to the end;
// gradients only where they last for the whole run.
[[nodiscard]] ledger::Ledger start_ledger(const model::ModelConfig& config, const plan::Plan& plan,
                                          const plan::Profile& profile, std::int64_t stage);

// ProgramKind::save. The state of a run between two steps, and one piece of it on its way out.
// Empty of steps and entries where nothing is trained.
[[nodiscard]] ledger::Ledger save_ledger(const model::ModelConfig& config, const plan::Plan& plan,
                                         const plan::Profile& profile, std::int64_t stage);

}  // namespace fourhold::predict
