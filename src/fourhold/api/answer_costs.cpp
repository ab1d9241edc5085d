#include "fourhold/api/answer_costs.h"

#include <optional>

#include "fourhold/api/run_time.h"

namespace fourhold::api {
namespace {

std::optional<double> device_seconds_per_token(const LoadedRun& run, const plan::Plan& plan) {
  const std::optional<double> seconds = step_seconds_of(run, plan);
  if (!seconds) return std::nullopt;
  return *seconds * static_cast<double>(plan.devices()) /
         (static_cast<double>(plan.global_batch) * static_cast<double>(plan.seq));
}

}  // namespace

void add_time_costs(const LoadedRun& run, const plan::Plan& plan, predict::Verdict& verdict) {
  if (!run.target || verdict.answers.empty()) return;
  const std::optional<double> now = device_seconds_per_token(run, plan);
  if (!now) return;
  for (predict::Answer& answer : verdict.answers) {
    const plan::Plan& changed = answer.then_change ? answer.then_change->plan : answer.plan;
    if (const std::optional<double> then = device_seconds_per_token(run, changed)) {
      answer.costs_time_percent = (*then / *now - 1) * 100;
    }
  }
}

}  // namespace fourhold::api
