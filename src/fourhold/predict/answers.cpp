#include "fourhold/predict/answers.h"

#include <utility>

#include "fourhold/predict/changes.h"

namespace fourhold::predict {

std::vector<Answer> find_answers(const model::ModelConfig& config, const plan::Plan& plan,
                                 const plan::Profile& profile, const MemoryPrediction& memory,
                                 const Capacity& capacity, VerdictClass failure, ShortOf short_of) {
  Trials trials{config, plan, profile, memory, capacity, short_of};
  if (failure != VerdictClass::state_does_not_fit) {
    shrink_activations(trials);
    split_layers(trials);
    split_tensors(trials);
    split_sequence(trials);
  } else if (plan.devices() == 1) {
    // Who has one device asks first what it can do; among several, what is split costs least.
    shrink_state(trials);
    spread_state(trials);
  } else {
    spread_state(trials);
    shrink_state(trials);
  }
  return std::move(trials.answers);
}

}  // namespace fourhold::predict
