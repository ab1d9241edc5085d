// A training run from its first weights to its last checkpoint.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/base/json.h"
#include "fourhold/base/units.h"
#include "fourhold/engine/executor/rank_groups.h"
#include "fourhold/engine/train/rank_results.h"
#include "fourhold/engine/train/step.h"
#include "fourhold/ledger/compare.h"
#include "fourhold/model/model_config.h"
#include "fourhold/model/numerics.h"
#include "fourhold/plan/plan.h"
#include "fourhold/plan/profile.h"

namespace fourhold::engine {

struct DataChoice {
  std::string path = "builtin";  // or a token file
  std::optional<std::int64_t> tokenizer_vocabulary;
  double held_out_share = data::kHeldOutShare;
};

struct CheckpointChoice {
  std::string folder;                      // logs and checkpoints; empty: none are kept
  std::string resume;                      // "auto", a checkpoint's folder, or empty: start anew
  std::optional<std::string> weights;      // published weights to start with; none: random
  std::optional<std::int64_t> save_every;  // steps; none: at the end alone
  int keep = 2;
};

// Everything a run depends on; the plan is legal, its isa and threads are this machine's.
struct TrainSetup {
  model::ModelConfig model;
  model::Numerics numerics;
  json::Object carried;  // members of the config.json, for the one that checkpoints hold
  plan::Plan plan;
  plan::Profile profile;
  DataChoice data;
  CheckpointChoice checkpoints;
  StepOptions options;
  std::int64_t steps = 1;
  OwnRank place;                               // of this rank among those of the plan
  std::optional<std::int64_t> evaluate_every;  // steps; none: at the end alone
};

// What one line of the log says.
struct TrainLine {
  StepReport step;
  double seconds = 0;  // of the step, data and log not counted
  std::optional<double> held_out_loss;
};

// Who watches a run. What one of these throws, such as the Error of a log on a full disk, ends the
// run there: train() throws it on, and the checkpoints that were saved are whole.
struct TrainObserver {
  std::function<void(const std::string& note)> note;
  std::function<void(const TrainLine& line)> line;
  std::function<bool()> stop_asked;  // asked before each step and each evaluated micro-batch
  // Before each micro-batch that is evaluated: how many are done, of how many.
  std::function<void(std::int64_t done, std::int64_t whole)> evaluating =
      [](std::int64_t /*done*/, std::int64_t /*whole*/) {};
};

struct TrainResult {
  std::vector<RankResult> ranks;  // on the first rank all of them, on others their own
  ledger::Ledger predicted;
  ledger::Ledger measured;
  ledger::Comparison comparison;
  Bytes peak_resident_bytes;  // of the whole process
  Bytes arena_bytes;
  Bytes outside_arena_bytes;    // resident now, less the arena
  std::int64_t first_step = 0;  // done in this call: first_step to last_step
  std::int64_t last_step = 0;
  std::vector<double> losses;
  std::optional<double> held_out_loss;
  std::vector<double> step_seconds;
  std::int64_t tokens_per_step = 0;
  StallCount stall;
  std::vector<std::string> kernels;
  std::optional<std::string> checkpoint;  // the last one written
  double save_seconds = 0;                // which it took
  bool stopped_early = false;             // by a signal, before its last step
  bool evaluation_stopped = false;        // by a signal: there is no held-out loss
};

// With several ranks all call it, each with its own place; what it throws on one of them ends the
// others by Communicator::fail, which is the caller's to call.
// Throws Error for data, weights or checkpoints that do not fit the model, for a disk that is full,
// and where a loss, gradient or update is not finite (see optimizer/overflow.h).
[[nodiscard]] TrainResult train(const TrainSetup& setup, const TrainObserver& observer);

}  // namespace fourhold::engine
