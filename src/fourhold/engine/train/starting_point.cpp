#include "fourhold/engine/train/starting_point.h"

#include <cstddef>

#include "fourhold/base/error.h"
#include "fourhold/engine/checkpoint/saved_checkpoint.h"

namespace fourhold::engine {

std::string precision_name(const plan::Plan& plan) {
  return std::string(plan::kPrecisionNames[static_cast<std::size_t>(plan.precision)]);
}

std::string optimizer_name(const plan::Plan& plan) {
  return std::string(plan::kOptimizerNames[static_cast<std::size_t>(plan.optimizer)]);
}

void require_steps_left(const RunState& saved, std::int64_t steps) {
  if (saved.step < steps) return;
  throw Error("--steps", "the run has done its " + std::to_string(saved.step) + " steps",
              "ask for more: --steps counts from the beginning of the run");
}

StartingPoint::StartingPoint(const TrainSetup& setup, const data::TokenSource& source)
    : setup_(setup), from_(find_resumption(setup.checkpoints.folder, setup.checkpoints.resume)) {
  const CheckpointChoice& choice = setup.checkpoints;
  if (from_.checkpoint || !choice.folder.empty()) fingerprint_ = source.fingerprint();
  notes_ = from_.notes;
  if (from_.checkpoint) {
    require_resumable();
    open_weights(from_.checkpoint->path);
    state_.emplace(from_.checkpoint->path);
  } else if (choice.weights) {
    static_cast<void>(own_checkpoint(*choice.weights, Verify::contents));
    open_weights(*choice.weights);
    notes_.insert(notes_.end(), files_->notes().begin(), files_->notes().end());
    notes_.insert(notes_.end(), weights_->notes().begin(), weights_->notes().end());
    notes_.push_back("weights of " + *choice.weights);
  }
}

void StartingPoint::require_resumable() const {
  const SavedCheckpoint& saved = *from_.checkpoint;
  check_resumable(saved.run, saved.model,
                  {.model = setup_.model,
                   .precision = precision_name(setup_.plan),
                   .optimizer = optimizer_name(setup_.plan),
                   .data = fingerprint_},
                  saved.path);
  require_steps_left(saved.run, setup_.steps);
}

void StartingPoint::open_weights(const std::string& path) {
  files_.emplace(path);
  weights_.emplace(files_->tensors(), setup_.model, path);
}

void StartingPoint::fill(Parameters parameters) const {
  if (state_) {
    start_checkpoint(parameters, *weights_, *state_);
  } else if (weights_) {
    start_published(parameters, *weights_, setup_.plan.precision);
  } else {
    start_random(parameters, setup_.model,
                 {.deviation = setup_.numerics.initializer_range,
                  .seed = setup_.options.seed,
                  .precision = setup_.plan.precision,
                  .threads = static_cast<int>(setup_.plan.threads)});
  }
}

}  // namespace fourhold::engine
