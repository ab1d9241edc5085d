#include "fourhold/engine/train/step.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fourhold/base/error.h"
#include "fourhold/engine/optimizer/parameter_groups.h"

namespace fourhold::engine {
namespace {

ParameterShard shard_of(const ParameterTensors& parameter) {
  return {.name = parameter.name,
          .part = parameter.owned,
          .weight = parameter.weight,
          .gradient = parameter.gradient,
          .master = parameter.master,
          .moment1 = parameter.moment1,
          .moment2 = parameter.moment2};
}

}  // namespace

TrainingStep::TrainingStep(const data::Dataset& dataset, const plan::Plan& plan,
                           const StepOptions& options, const plan::Coordinates& at)
    : dataset_(dataset),
      plan_(plan),
      options_(options),
      share_(plan, at),
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
  magnitudes_.gradient = 0;
  executor.run_step(*this);
  magnitudes_ = next_magnitudes_;
  return report_;
}

// --- data ------------------------------------------------------------------------------------

std::int64_t TrainingStep::read_micro_batch(std::int64_t micro_batch) {
  dataset_.fill(position_, share_.first_row(micro_batch), ids_, targets_);
  read_ = micro_batch;
  return share_.learned(targets_);
}

std::int64_t TrainingStep::count_tokens() {
  std::int64_t learned = 0;
  for (std::int64_t m = 0; m < plan_.grad_accum; ++m) learned += read_micro_batch(m);
  return learned;
}

void TrainingStep::learned_tokens(std::int64_t tokens) {
  report_.learned_tokens = tokens;
  if (tokens == 0) {
    throw Error("step " + std::to_string(report_.step), "no token of the batch is to be learned",
                "every answer of these examples is cut off: a larger --seq, or other data");
  }
}

void TrainingStep::load_ids(std::int64_t micro_batch, const Tensor& ids) {
  if (read_ != micro_batch) (void)read_micro_batch(micro_batch);
  share_.copy(ids_, ids);
}

void TrainingStep::load_targets(std::int64_t micro_batch, const Tensor& targets) {
  if (read_ != micro_batch) (void)read_micro_batch(micro_batch);
  share_.copy(targets_, targets);
}

// --- update ----------------------------------------------------------------------------------

void TrainingStep::loss(double mean) {
  report_.loss = mean;
  require_finite_loss(mean, report_.step);
}

double TrainingStep::squared_norm(std::span<const ParameterTensors> parameters) {
  SquaredNorm squared;
  for (const ParameterTensors& parameter : parameters) {
    const SquaredNorm own = engine::squared_norm(parameter.gradient, threads());
    magnitudes_.gradient = std::max(magnitudes_.gradient, own.largest);
    if (parameter.first_copy) squared += own;
  }
  require_finite_gradient(squared, report_.step);
  return squared.value();
}

void TrainingStep::total_squared_norm(double squared) {
  report_.gradient_norm = std::sqrt(squared);
  gradient_scale_ = clip_coefficient(squared, options_.clip_norm);
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
  if (parameter.first_copy) report_.stall += {updated.nonzero, updated.lost};
  next_magnitudes_.weight = std::max(next_magnitudes_.weight, updated.largest_weight);
  next_magnitudes_.moment1 = std::max(next_magnitudes_.moment1, updated.largest_moment1);
}

}  // namespace fourhold::engine
