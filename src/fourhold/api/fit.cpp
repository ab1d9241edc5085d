#include "fourhold/api/fit.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fourhold/api/answer_costs.h"
#include "fourhold/api/calibration.h"
#include "fourhold/api/plan_choice.h"
#include "fourhold/api/run_json.h"
#include "fourhold/api/run_notes.h"
#include "fourhold/api/state_only.h"
#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"

namespace fourhold::api {
namespace {

PlanKind kind_of(const plan::Plan& plan) {
  if (plan.tp * plan.pp * plan.cp > 1) return PlanKind::split;
  return plan.dp > 1 ? PlanKind::data_parallel : PlanKind::one_device;
}

std::string_view to_string(PlanKind kind) {
  switch (kind) {
    case PlanKind::one_device:
      return "one_device";
    case PlanKind::data_parallel:
      return "data_parallel";
    case PlanKind::split:
      break;
  }
  return "split";
}

// How many equal shares of one replica's state fit a device each. The replica is predicted whole,
// so that every recipe counts.
std::optional<std::int64_t> zero3_devices(const LoadedRun& run, const PlannedRun& planned) {
  if (run.profile.zero_stages.back() != 3) return std::nullopt;
  plan::Plan whole = planned.plan;
  whole.tp = whole.pp = whole.vpp = whole.cp = whole.ep = whole.dp = 1;
  whole.shard_groups = 1;
  whole.sp = false;
  whole.micro_batch = whole.grad_accum = whole.global_batch = 1;
  whole.schedule = plan::ScheduleKind::one_f_one_b;
  whole.offload = plan::Offload::none;
  whole.layers_per_stage = {run.model.layer_count()};
  const predict::MemoryPrediction memory =
      predict::predict_memory(run.model, whole, run.profile, predict::WithLedger::no);
  return std::max<std::int64_t>(
      1, ceil_divide(memory.worst().state_bytes,
                     std::max<std::int64_t>(1, predict::budget_of(*planned.capacity).count())));
}

json::Value state_json(const FitResult& result) {
  const predict::StateBytes& state = result.state;
  return json::Object{
      {"parameters", result.parameters},
      {"bytes_per_parameter", state.bytes_per_parameter},
      {"weight", state.weight.count()},
      {"gradient", state.gradient.count()},
      {"master_weight", state.master_weight.count()},
      {"optimizer_state", state.optimizer_state.count()},
      {"total", state.total().count()},
      {"step_temporary", state.step_temporary.count()},
      {"zero3_devices", result.zero3_devices ? json::Value(*result.zero3_devices) : json::Value()}};
}

}  // namespace

FitResult fit(const FitRequest& request) {
  const auto refuse_without_device = [](bool named) {
    if (named) return;
    throw Error("--device", "is missing: fit judges a run against a device",
                "add for example --device rtx-4090, or --memory 24GiB; `fourhold hardware` lists "
                "the devices");
  };
  if (request.parameters) {
    refuse_without_device(!request.run.target.device.empty() || request.run.target.memory);
    return fit_of_count(request);
  }
  LoadedRun run = load_run(request.run);
  refuse_without_device(run.target.has_value());  // by a flag or by the plan file
  PlannedRun planned = correct_by_plan(complete_plan(run), run);
  FitResult result;
  result.name = display_name(run.model.name);
  result.counts = run.counts;
  result.kind = kind_of(planned.plan);
  result.device = run.target->cluster.device.name;
  result.capacity = *planned.capacity;
  result.serving =
      predict::serving_bytes(run.counts.total, plan::recipe_of(planned.plan, run.profile));
  result.parameters = checked_add(run.counts.total, model::count_prediction_parameters(
                                                        run.model, planned.plan.prediction_layers));
  result.state = predict::state_bytes(planned.memory, result.parameters);
  result.zero3_devices = zero3_devices(run, planned);
  result.activations = predict::activation_bytes(planned.memory);
  result.largest =
      predict::largest_that_fit(run.model, planned.plan, run.profile, *planned.capacity);
  result.verdict =
      predict::decide(run.model, planned.plan, run.profile, planned.memory, *planned.capacity);
  add_time_costs(run, planned.plan, result.verdict);
  result.chosen = std::move(run.chosen);
  result.notes = std::move(run.notes);
  add_run_notes(planned, run.profile, result.notes);
  result.trainable = trainable_of(run.model, planned.plan, run.profile);
  add_trainable_note(result.trainable, result.notes);
  add_experts_note(run.model, planned.plan, result.notes);
  result.sure = sureness_of(run.residuals, planned.memory, planned.capacity, std::nullopt);
  result.plan = std::move(planned.plan);
  result.memory = std::move(planned.memory);
  return result;
}

json::Value to_json(const FitResult& result) {
  json::Array largest;
  for (const predict::Largest& row : result.largest) {
    largest.push_back(json::Object{
        {"recompute", row.recompute}, {"micro_batch", row.micro_batch}, {"seq", row.seq}});
  }
  json::Value activations;
  if (result.activations) {
    activations = json::Object{{"total", result.activations->total.count()},
                               {"per_layer", result.activations->per_layer.count()},
                               {"logits", result.activations->logits.count()}};
  }
  json::Value memory;
  if (result.memory) memory = memory_json(*result.memory, result.capacity, *result.sure);
  return json::Object{
      {"schema", "fourhold.fit/1"},
      {"model", model_json(result.name, result.counts)},
      {"plan", plan::to_json(result.plan)},
      {"trainable", trainable_json(result.trainable)},
      {"plan_kind", to_string(result.kind)},
      {"chosen", texts_json(result.chosen)},
      {"serving", json::Object{{"bytes", result.serving.count()}}},
      {"state", state_json(result)},
      {"activations", std::move(activations)},
      {"device", device_json(result.device, result.capacity)},
      {"memory", std::move(memory)},
      {"largest", std::move(largest)},
      {"verdict", verdict_json(result.verdict)},
      {"fit_probability", result.sure ? number_json(result.sure->fit_probability) : json::Value()},
      {"notes", texts_json(result.notes)}};
}

report::MemoryBars bars_of(const FitResult& result) {
  if (result.memory) {
    return report::bars_of(*result.memory, result.capacity.usable_bytes,
                           predict::shown_bytes(*result.memory, result.verdict.verdict));
  }
  const predict::StateBytes& state = result.state;
  report::MemoryBars bars;
  bars.device = result.capacity.usable_bytes;
  bars.bars = {{"weights", state.weight, report::Ink::weight},
               {"gradients", state.gradient, report::Ink::gradient},
               {"optimizer", state.master_weight + state.optimizer_state, report::Ink::optimizer}};
  return bars;
}

}  // namespace fourhold::api
