#include "fourhold/predict/fit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "fourhold/plan/recipe.h"

namespace fourhold::predict {
namespace {

using ledger::Category;

// Largest micro-batches and sequences searched for: beyond any device's memory.
constexpr std::int64_t kMostSequences = std::int64_t{1} << 20;
constexpr std::int64_t kLongestSequence = std::int64_t{1} << 27;

// The largest n in [1, most] for which `fits(n)` holds, 0 if none: memory grows with n.
std::int64_t largest(std::int64_t most, const std::function<bool(std::int64_t)>& fits) {
  if (!fits(1)) return 0;
  std::int64_t low = 1;
  std::int64_t high = 2;
  while (high <= most && fits(high)) {
    low = high;
    high *= 2;
  }
  high = std::min(high, most + 1);
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

Bytes sum_state(const ledger::Ledger& ledger, Category category) {
  Bytes sum;
  for (const ledger::Entry& entry : ledger.entries) {
    if (entry.category == category) sum += entry.bytes * entry.copies;
  }
  return sum;
}

// Gradients of the whole stage: accumulators, not a block's gradient on its way.
Bytes sum_gradients(const ledger::Ledger& ledger) {
  Bytes sum;
  for (const ledger::Entry& entry : ledger.entries) {
    if (entry.category == Category::gradient && entry.key.role == ledger::Role::gradient) {
      sum += entry.bytes * entry.copies;
    }
  }
  return sum;
}

bool is_as_wide_as_vocabulary(std::string_view name) {
  using model::TensorName;
  return name == to_string(TensorName::logits) || name == to_string(TensorName::logits_wide) ||
         name == to_string(TensorName::logits_gathered) ||
         name == to_string(TensorName::logits_capped) || name == to_string(TensorName::log_softmax);
}

}  // namespace

StateBytes state_bytes(const MemoryPrediction& memory, std::int64_t parameters) {
  const ledger::Ledger& ledger = memory.worst().ledger;
  StateBytes state;
  state.weight = sum_state(ledger, Category::weight);
  state.gradient = sum_gradients(ledger);
  state.master_weight = sum_state(ledger, Category::master_weight);
  state.optimizer_state = sum_state(ledger, Category::optimizer_state);
  for (const ledger::Entry& entry : ledger.entries) {
    if (entry.key.name == "optimizer_temporary") state.step_temporary += entry.bytes * entry.copies;
  }
  state.bytes_per_parameter =
      static_cast<double>(state.total().count()) / static_cast<double>(parameters);
  return state;
}

ActivationBytes activation_bytes(const MemoryPrediction& memory) {
  ActivationBytes activations;
  for (const StageMemory& stage : memory.stages) {
    Bytes logits;
    for (const ledger::Entry& entry : stage.ledger.entries) {
      if (entry.key.block == to_string(model::Block::head) &&
          is_as_wide_as_vocabulary(entry.key.name)) {
        logits += entry.bytes * entry.copies_at_peak;
      }
    }
    activations.logits = std::max(activations.logits, logits);
  }
  const StageMemory& worst = memory.worst();
  for (const ledger::Entry& entry : worst.ledger.entries) {
    switch (entry.category) {
      case Category::saved_activation:
        if (entry.key.block == to_string(model::Block::layer) && entry.copies > 0) {
          activations.per_layer += entry.bytes;
        }
        [[fallthrough]];
      case Category::activation_gradient:
      case Category::input:
        activations.total += entry.bytes * entry.copies_at_peak;
        break;
      case Category::scratch:
        if (entry.key.block != "step") activations.total += entry.bytes * entry.copies_at_peak;
        break;
      default:
        break;
    }
  }
  return activations;
}

namespace {

// A legal sequence is a multiple of this: two pieces per context rank (plan/validate_model.cpp),
// and equal shares of a context rank's tokens under sequence parallelism.
std::int64_t sequence_unit(const plan::Plan& plan) {
  const std::int64_t pieces = plan.cp > 1 ? 2 * plan.cp : 1;
  return plan.sp ? std::lcm(pieces, plan.tp * plan.cp) : pieces;
}

// What the profile can make again, least first, and between them the plan's own choice.
std::vector<plan::RecomputePolicy> compared_policies(const plan::Plan& plan,
                                                     const plan::Profile& profile) {
  std::vector<plan::RecomputePolicy> policies{plan::recompute_from_string("none")};
  if (profile.recompute_choice == plan::RecomputeChoice::groups) {
    policies.push_back(plan::recompute_from_string("selective"));
  } else {
    for (const std::string_view set : plan::saved_set_names()) {
      policies.push_back(plan::recompute_from_string(set));
    }
  }
  if (plan.recompute.kind != plan::RecomputeKind::full || plan.recompute.full_layers >= 0) {
    const auto same = std::find(policies.begin(), policies.end(), plan.recompute);
    if (same == policies.end()) policies.push_back(plan.recompute);
  }
  policies.push_back(plan::recompute_from_string("full"));
  return policies;
}

}  // namespace

std::vector<Largest> largest_that_fit(const model::ModelConfig& config, const plan::Plan& plan,
                                      const plan::Profile& profile, const Capacity& capacity) {
  std::vector<Largest> rows;
  for (const plan::RecomputePolicy& policy : compared_policies(plan, profile)) {
    plan::Plan tried = plan;
    tried.recompute = policy;
    const auto fits = [&](const plan::Plan& candidate) {
      return classify(predict_memory(config, candidate, profile, WithLedger::no), capacity) ==
             VerdictClass::fits;
    };
    Largest row;
    row.recompute = plan::to_string(policy);
    row.micro_batch = largest(kMostSequences, [&](std::int64_t micro_batch) {
      plan::Plan candidate = tried;
      candidate.micro_batch = micro_batch;
      return fits(candidate);
    });
    const std::int64_t longest =
        config.position == model::PositionKind::learned ? config.max_positions : kLongestSequence;
    const std::int64_t unit = sequence_unit(plan);
    row.seq = unit * largest(longest / unit, [&](std::int64_t units) {
                plan::Plan candidate = tried;
                candidate.seq = units * unit;
                return fits(candidate);
              });
    rows.push_back(std::move(row));
  }
  return rows;
}

Bytes serving_bytes(std::int64_t parameters, const plan::Recipe& recipe) {
  return Bytes(bytes_of(parameters, recipe.compute));
}

StateBytes state_of_count(std::int64_t parameters, const plan::Recipe& recipe,
                          double optimizer_temporary, int zero, std::int64_t devices) {
  const auto slice = [&](int from) {
    return zero >= from ? ceil_divide(parameters, devices) : parameters;
  };
  // A parameter count has no shapes: the state of one long vector.
  const model::Parameter flat{model::TensorName::token_embedding,
                              {{model::Dim::other, parameters}},
                              model::ParameterRole::vector};
  StateBytes state;
  state.weight = Bytes(bytes_of(slice(3), recipe.weight));
  state.gradient = Bytes(bytes_of(slice(2), recipe.gradient));
  state.master_weight = Bytes(checked_multiply(slice(1), recipe.master_bytes));
  for (const plan::StateTensor& moment : plan::optimizer_state(recipe, flat, slice(1))) {
    state.optimizer_state += Bytes(bytes_of(moment.elements, moment.dtype)) +
                             Bytes(bytes_of(moment.scale_elements, DType::fp32));
  }
  const auto temporary =
      static_cast<std::int64_t>(std::ceil(optimizer_temporary * static_cast<double>(slice(1))));
  state.step_temporary = Bytes(bytes_of(temporary, DType::fp32));
  state.bytes_per_parameter =
      static_cast<double>(state.total().count()) / static_cast<double>(parameters);
  return state;
}

}  // namespace fourhold::predict
