// From what a user asks of `fourhold train` to a run that is wholly decided.
#pragma once

#include <string>
#include <vector>

#include "apps/engine/joined_ranks.h"
#include "fourhold/api/train.h"
#include "fourhold/base/units.h"
#include "fourhold/engine/train/train_run.h"

namespace fourhold::engine_app {

struct PreparedTraining {
  engine::TrainSetup setup;
  Bytes predicted_bytes;  // of the arena
  Bytes available_bytes;  // for it and for what is beside it
  std::vector<std::string> notes;
};

// Throws Error for what the engine cannot run exactly, and, with the planner's verdict and answers
// in its hint, for a plan that does not fit --memory or the machine: before anything is allocated.
[[nodiscard]] PreparedTraining prepare_training(const api::TrainRequest& request,
                                                const JoinedRanks& ranks);

}  // namespace fourhold::engine_app
