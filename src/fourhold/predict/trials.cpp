#include "fourhold/predict/trials.h"

#include <algorithm>
#include <utility>

#include "fourhold/plan/plan_request.h"
#include "fourhold/plan/validate.h"
#include "fourhold/predict/changes.h"

namespace fourhold::predict {

std::optional<Answer> Trials::attempt(const std::string& change, plan::Plan changed) const {
  try {
    changed.layers_per_stage =
        plan::canonical_layout(config.layer_count(), changed.pp * changed.vpp);
    plan::validate(changed, config, profile);
  } catch (const Error&) {
    return std::nullopt;  // an illegal change is no answer
  }
  const MemoryPrediction predicted = predict_memory(config, changed, profile, WithLedger::no);
  Answer answer;
  answer.change = change;
  answer.plan = std::move(changed);
  answer.saves_bytes = held(memory) - held(predicted);
  const Capacity there = over_devices(capacity, answer.plan.devices());
  answer.then_class = classify(predicted, there);
  answer.then_host_lacks = shortfall_of(predicted, there).host;
  if (ends_state_failure(answer)) {
    const Trials next{config, answer.plan, profile, predicted, there, ShortOf::device};
    if (std::optional<Answer> cure = cure_on_the_same_devices(next)) {
      answer.then_change = SecondChange{std::move(cure->change), std::move(cure->plan)};
    }
  }
  return answer;
}

Bytes Trials::held(const MemoryPrediction& predicted) const {
  return short_of == ShortOf::host ? predicted.on_host() : predicted.needed_bytes;
}

bool Trials::ends_state_failure(const Answer& answer) const {
  return answer.then_class == VerdictClass::activations_do_not_fit &&
         classify(memory, capacity) == VerdictClass::state_does_not_fit;
}

int Trials::progress(const Answer& answer) const {
  if (answer.then_class == VerdictClass::fits || answer.then_change) return 2;
  return ends_state_failure(answer) ? 1 : 0;
}

std::int64_t Trials::node() const { return std::max<std::int64_t>(capacity.devices_per_node, 8); }

bool Trials::Kind::offer(const std::string& change, const plan::Plan& changed) {
  std::optional<Answer> answer = trials_.attempt(change, changed);
  if (!answer || answer->saves_bytes <= Bytes(0)) return false;
  const int progress = trials_.progress(*answer);
  const bool within_node = changed.devices() <= std::max(trials_.node(), trials_.plan.devices());
  const bool better =
      !best_ || progress > progress_ ||
      (progress == 0 && progress_ == 0 && within_node && answer->saves_bytes > best_->saves_bytes);
  if (better) {
    best_ = std::move(answer);
    progress_ = progress;
  }
  return progress == 2;
}

void Trials::Kind::keep() {
  if (best_) trials_.answers.push_back(std::move(*best_));
}

}  // namespace fourhold::predict
