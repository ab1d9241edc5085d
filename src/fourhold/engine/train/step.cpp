#include "fourhold/engine/train/step.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "fourhold/base/error.h"
#include "fourhold/engine/optimizer/parameter_groups.h"

namespace fourhold::engine {
namespace {

ParameterShard shard_of(const ParameterTensors& parameter) {
  return {.name = parameter.name,
          .weight = parameter.weight,
          .gradient = parameter.gradient,
          .master = parameter.master,
          .moment1 = parameter.moment1,
          .moment2 = parameter.moment2};
}

}  // namespace

TrainingStep::TrainingStep(const data::Dataset& dataset, const plan::Plan& plan,
                           const StepOptions& options)
    : dataset_(dataset),
      plan_(plan),
      options_(options),
      ids_(static_cast<std::size_t>(plan.micro_batch * plan.seq)),
      targets_(ids_.size()) {
  // Nothing is known of the weights a run starts with: its first step is checked.
  magnitudes_.weight = std::numeric_limits<float>::infinity();
  magnitudes_.moment1 = std::numeric_limits<float>::infinity();
}

StepReport TrainingStep::run(std::int64_t step, data::DataPosition position, Executor& executor) {
  report_ = {};
  report_.step = step;
  report_.learning_rate = learning_rate(options_.schedule, step);
  position_ = position;
  read_ = -1;
  next_magnitudes_ = {};
  executor.run_step(*this);
  magnitudes_ = next_magnitudes_;
  return report_;
}

// --- data ------------------------------------------------------------------------------------

void TrainingStep::read_micro_batch(std::int64_t micro_batch) {
  if (read_ == micro_batch) return;
  dataset_.fill(position_, micro_batch * plan_.micro_batch, ids_, targets_);
  read_ = micro_batch;
}

std::int64_t TrainingStep::count_tokens() {
  for (std::int64_t m = 0; m < plan_.grad_accum; ++m) {
    report_.learned_tokens += dataset_.fill(position_, m * plan_.micro_batch, ids_, targets_);
  }
  read_ = plan_.grad_accum - 1;
  if (report_.learned_tokens == 0) {
    throw Error("step " + std::to_string(report_.step), "no token of the batch is to be learned",
                "every answer of these examples is cut off: a larger --seq, or other data");
  }
  return report_.learned_tokens;
}

void TrainingStep::load_ids(std::int64_t micro_batch, const Tensor& ids) {
  read_micro_batch(micro_batch);
  std::memcpy(ids.data, ids_.data(), static_cast<std::size_t>(ids.bytes()));
}

void TrainingStep::load_targets(std::int64_t micro_batch, const Tensor& targets) {
  read_micro_batch(micro_batch);
  std::memcpy(targets.data, targets_.data(), static_cast<std::size_t>(targets.bytes()));
}

// --- update ----------------------------------------------------------------------------------

void TrainingStep::loss(double mean) {
  report_.loss = mean;
  require_finite_loss(mean, report_.step);
}

double TrainingStep::gradient_norm(std::span<const ParameterTensors> parameters) {
  SquaredNorm squared;
  for (const ParameterTensors& parameter : parameters) {
    squared += squared_norm(parameter.gradient, threads());
  }
  require_finite_gradient(squared, report_.step);
  report_.gradient_norm = std::sqrt(squared.value());
  gradient_scale_ = clip_coefficient(squared.value(), options_.clip_norm);
  magnitudes_.gradient = squared.largest;
  return report_.gradient_norm;
}

StepFactors TrainingStep::factors_of(const ParameterTensors& parameter) const {
  return step_factors(options_.hyperparameters, weight_decay_of(parameter.role), report_.step,
                      report_.learning_rate, gradient_scale_);
}

UpdateOptions TrainingStep::update_options() const {
  return {.precision = plan_.precision,
          .seed = options_.seed,
          .step = report_.step,
          .threads = threads()};
}

// Clipping itself is a factor of the update. What must come before any weight is written is the
// proof that none becomes infinite.
void TrainingStep::clip(std::span<const ParameterTensors> parameters) {
  const bool proven = std::none_of(
      parameters.begin(), parameters.end(),
      [this](const ParameterTensors& each) { return may_overflow(factors_of(each), magnitudes_); });
  if (proven) return;
  UpdateReport checked;
  for (const ParameterTensors& parameter : parameters) {
    checked += update(shard_of(parameter), factors_of(parameter), update_options(), Pass::check);
  }
  require_finite_update(checked, report_.step);
}

void TrainingStep::optimize(const ParameterTensors& parameter) {
  const UpdateReport updated =
      update(shard_of(parameter), factors_of(parameter), update_options(), Pass::write);
  report_.stall += {updated.nonzero, updated.lost};
  next_magnitudes_.weight = std::max(next_magnitudes_.weight, updated.largest_weight);
  next_magnitudes_.moment1 = std::max(next_magnitudes_.moment1, updated.largest_moment1);
}

}  // namespace fourhold::engine
