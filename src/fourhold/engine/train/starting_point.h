// What a run begins with: the checkpoint it goes on from, published weights, or random ones. Found
// and checked before anything is allocated; filled in when there are tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/engine/checkpoint/published_reader.h"
#include "fourhold/engine/checkpoint/resumption.h"
#include "fourhold/engine/checkpoint/state_files.h"
#include "fourhold/engine/data/token_source.h"
#include "fourhold/engine/train/run_weights.h"
#include "fourhold/engine/train/train_run.h"

namespace fourhold::engine {

class StartingPoint {
 public:
  // Throws Error for a checkpoint that is not whole or of another run, and for weights that lack a
  // tensor or do not fit the model. The setup must outlive the object.
  StartingPoint(const TrainSetup& setup, const data::TokenSource& source);
  StartingPoint(const StartingPoint&) = delete;
  StartingPoint& operator=(const StartingPoint&) = delete;

  // None: the run begins with its first step.
  [[nodiscard]] const std::optional<SavedCheckpoint>& checkpoint() const {
    return from_.checkpoint;
  }
  // Steps of checkpoints in the run's folder that are damaged, and were stepped over.
  [[nodiscard]] const std::vector<std::int64_t>& damaged() const { return from_.damaged; }
  // What was set aside or stepped over, as sentences.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  // Of the data; "" where no checkpoint is read or written.
  [[nodiscard]] const std::string& fingerprint() const { return fingerprint_; }

  // Weights, master copies and moments. Throws Error where a weight is not finite in the type it is
  // trained in.
  void fill(Parameters parameters) const;

 private:
  void require_resumable() const;
  void open_weights(const std::string& path);

  const TrainSetup& setup_;
  Resumption from_;
  std::vector<std::string> notes_;
  std::string fingerprint_;
  // Weights of a checkpoint or published ones; none: random.
  std::optional<WeightFiles> files_;
  std::optional<PublishedWeights> weights_;
  std::optional<StateFiles> state_;
};

// Throws Error where a run of `steps` has nothing left to do behind this state.
void require_steps_left(const RunState& saved, std::int64_t steps);

// "bf16-split", "adamw": as a checkpoint names them.
[[nodiscard]] std::string precision_name(const plan::Plan& plan);
[[nodiscard]] std::string optimizer_name(const plan::Plan& plan);

}  // namespace fourhold::engine
