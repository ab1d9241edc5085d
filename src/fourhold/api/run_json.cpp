#include "fourhold/api/run_json.h"

#include <cstddef>
#include <utility>

namespace fourhold::api {

json::Value model_json(const std::string& name, const model::ParameterCounts& counts) {
  return json::Object{
      {"name", name}, {"parameters", counts.total}, {"active_parameters", counts.active}};
}

json::Value trainable_json(const std::optional<model::TrainableCounts>& counts) {
  if (!counts) return {};
  return json::Object{
      {"trainable", counts->trainable}, {"total", counts->total}, {"adapters", counts->adapters}};
}

json::Value by_category_json(const ledger::CategoryBytes& bytes) {
  json::Object out;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto category = static_cast<ledger::Category>(i);
    if (bytes[i] == Bytes(0) && !ledger::held_in_training(category)) continue;
    out.emplace_back(to_string(category), bytes[i].count());
  }
  return out;
}

json::Value device_json(const std::string& name, const predict::Capacity& capacity) {
  return json::Object{{"name", name},
                      {"usable_bytes", capacity.usable_bytes.count()},
                      {"headroom", capacity.headroom},
                      {"budget_bytes", predict::budget_of(capacity).count()}};
}

namespace {

// Null where the profile has no caching allocator.
json::Value allocator_json(const std::optional<predict::AllocatorPrediction>& replay) {
  if (!replay) return {};
  json::Array after;
  for (const std::int64_t bytes : replay->reserved_peak_bytes) after.emplace_back(bytes);
  return json::Object{{"reserved_after_step_bytes", std::move(after)},
                      {"immediate_reserved_bytes", replay->immediate_bytes},
                      {"deferred_reserved_bytes", replay->deferred_bytes},
                      {"allocated_bytes", replay->allocated_peak_bytes},
                      {"flushed", replay->flushed},
                      {"out_of_memory", replay->out_of_memory}};
}

}  // namespace

json::Value memory_json(const predict::MemoryPrediction& memory,
                        const std::optional<predict::Capacity>& capacity, const Sureness& sure) {
  const auto of = [&capacity](auto&& bytes) {
    return capacity ? json::Value(bytes(*capacity).count()) : json::Value();
  };
  json::Array stages;
  for (const predict::StageMemory& stage : memory.stages) {
    stages.push_back(
        json::Object{{"stage", stage.stage},
                     {"layers", stage.layers},
                     {"in_flight", stage.in_flight},
                     {"allocated_bytes", stage.ledger.live_peak_bytes.count()},
                     {"state_bytes", stage.state_bytes},
                     {"by_category", by_category_json(stage.ledger.at_peak_by_category())}});
  }
  const ledger::Ledger& worst = memory.worst().ledger;
  return json::Object{{"usable_bytes", of([](const auto& one) { return one.usable_bytes; })},
                      {"budget_bytes", of(predict::budget_of)},
                      {"allocated_bytes", memory.allocated_bytes.count()},
                      {"reserved_bytes", memory.reserved_bytes.count()},
                      {"device_bytes", memory.device_bytes.count()},
                      {"needed_bytes", memory.needed_bytes.count()},
                      {"allocator", allocator_json(memory.allocator)},
                      {"startup_bytes", memory.startup_bytes.count()},
                      {"host_bytes", memory.host_bytes.count()},
                      {"host_staging_bytes", memory.host_staging_bytes.count()},
                      {"host_activation_bytes", memory.host_activation_bytes.count()},
                      {"interval_bytes", interval_json(sure.memory)},
                      {"by_category", by_category_json(worst.at_peak_by_category())},
                      {"peak_stage", memory.peak_stage},
                      {"peak_step", worst.peak_step},
                      {"stages", std::move(stages)}};
}

json::Value verdict_json(const predict::Verdict& verdict) {
  json::Array answers;
  for (const predict::Answer& answer : verdict.answers) {
    const auto& time = answer.costs_time_percent;
    answers.push_back(
        json::Object{{"change", answer.change},
                     {"saves_bytes", answer.saves_bytes.count()},
                     {"costs_time_percent", time ? json::Value(*time) : json::Value()},
                     {"then_class", predict::to_string(answer.then_class)},
                     {"then_change",
                      answer.then_change ? json::Value(answer.then_change->change) : json::Value()},
                     {"devices", answer.plan.devices()},
                     {"plan", plan::to_json(answer.plan)}});
  }
  return json::Object{
      {"class", predict::to_string(verdict.verdict)},
      {"reason", verdict.reason.empty() ? json::Value() : json::Value(verdict.reason)},
      {"explanation", verdict.explanation},
      {"missing_bytes", verdict.missing_bytes.count()},
      {"missing_device_bytes", verdict.shortfall.device.count()},
      {"missing_host_bytes", verdict.shortfall.host.count()},
      {"answers", std::move(answers)}};
}

json::Value number_json(std::optional<double> number) {
  return number ? json::Value(*number) : json::Value();
}

json::Value time_json(const std::optional<StepAnswer>& step, const Sureness& sure) {
  if (!step) return {};
  json::Value parts;
  if (step->parts) {
    json::Object list;
    predict::visit_parts(
        [&list](const char* name, const double& seconds) { list.emplace_back(name, seconds); },
        *step->parts);
    parts = std::move(list);
  }
  return json::Object{{"step_seconds", step->step_seconds},
                      {"tokens_per_second_per_device", step->tokens_per_second_per_device},
                      {"tflops_per_device", step->tflops_per_device},
                      {"mfu", number_json(step->mfu)},
                      {"hfu", number_json(step->hfu)},
                      {"parts", std::move(parts)},
                      {"interval_seconds", interval_json(sure.step)}};
}

json::Value run_json(const std::optional<RunAnswer>& run) {
  if (!run) return {};
  return json::Object{{"tokens", run->tokens},
                      {"days", run->days},
                      {"single_device_days", number_json(run->single_device_days)},
                      {"speedup", number_json(run->speedup)},
                      {"speedup_kept", number_json(run->speedup_kept)},
                      {"cost_usd", number_json(run->cost_usd)},
                      {"deadline_days", run->deadline_days}};
}

json::Value texts_json(const std::vector<std::string>& texts) {
  json::Array out;
  out.reserve(texts.size());
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

}  // namespace fourhold::api
