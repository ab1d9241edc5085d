// What can be told of a training run before its ranks are there: the same for `train` as for who
// launches it.
#pragma once

#include "fourhold/api/plan_choice.h"
#include "fourhold/api/run.h"
#include "fourhold/api/train.h"
#include "fourhold/engine/train/train_run.h"

namespace fourhold::engine_app {

struct CheckedTraining {
  api::LoadedRun run;
  api::PlannedRun planned;
  engine::TrainSetup setup;  // all but its place
};

// `run` is training_run(request) with the threads and the instruction set of a rank. Throws Error
// for options that are missing or would do nothing, for what the engine cannot run exactly, and
// where --out has no room for checkpoints.
[[nodiscard]] CheckedTraining check_training(const api::TrainRequest& request,
                                             const api::RunRequest& run);

}  // namespace fourhold::engine_app
