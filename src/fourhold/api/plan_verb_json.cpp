// What `fourhold plan --json` prints (docs/json.md).
#include <utility>

#include "fourhold/api/plan_difference.h"
#include "fourhold/api/plan_verb.h"
#include "fourhold/api/run_json.h"

namespace fourhold::api {
namespace {

// Of all devices, in one order.
json::Value plans_json(const std::vector<SearchedDevice>& devices) {
  json::Array list;
  for (const PlanAt& at : plans_in_order(devices)) {
    const RankedPlan& plan = *at.plan;
    list.push_back(
        json::Object{{"rank", static_cast<std::int64_t>(list.size()) + 1},
                     {"device", at.device->name()},
                     {"plan", plan::to_json(plan.plan)},
                     {"memory", memory_json(plan.memory, at.device->capacity, plan.sure)},
                     {"time", time_json(plan.time.step, plan.sure)},
                     {"run", run_json(plan.time.run)},
                     {"fit_probability", number_json(plan.sure.fit_probability)}});
  }
  return list;
}

json::Value rejected_json(const search::SearchResult& result) {
  json::Array list;
  for (const search::Rejection& rejection : result.rejected) {
    json::Value nearest;
    if (rejection.nearest) {
      nearest = json::Object{{"plan", plan::to_json(rejection.nearest->plan)},
                             {"missing_bytes", rejection.nearest->missing_bytes}};
    }
    list.push_back(json::Object{
        {"reason", rejection.reason}, {"count", rejection.count}, {"nearest", std::move(nearest)}});
  }
  return list;
}

json::Value search_json(const search::SearchCounts& counts) {
  return json::Object{{"candidates", counts.candidates},     {"illegal", counts.illegal},
                      {"does_not_fit", counts.does_not_fit}, {"pruned", counts.pruned},
                      {"evaluated", counts.evaluated},       {"seconds", counts.seconds}};
}

json::Value scaling_json(const std::vector<search::ScalingPoint>& points) {
  json::Array list;
  for (const search::ScalingPoint& point : points) {
    const auto known = [&point](double value) {
      return point.plan ? json::Value(value) : json::Value();
    };
    list.push_back(json::Object{{"devices", point.devices},
                                {"tokens_per_second", known(point.tokens_per_second)},
                                {"speedup", known(point.speedup)},
                                {"speedup_kept", known(point.speedup_kept)}});
  }
  return list;
}

// One line per searched device, the best first.
json::Value devices_json(const std::vector<SearchedDevice>& devices) {
  json::Array list;
  for (const SearchedDevice& device : devices) {
    const RankedPlan& shown = device.shown();
    list.push_back(json::Object{{"name", device.name()},
                                {"count", device.count},
                                {"usable_bytes", device.capacity.usable_bytes.count()},
                                {"budget_bytes", predict::budget_of(device.capacity).count()},
                                {"plan", plan::to_json(shown.plan)},
                                {"time", time_json(shown.time.step, shown.sure)},
                                {"run", run_json(shown.time.run)},
                                {"verdict", verdict_json(device.verdict)},
                                {"search", search_json(device.result.counts)}});
  }
  return list;
}

json::Value baselines_json(const std::vector<Baseline>& baselines) {
  json::Array list;
  for (const Baseline& baseline : baselines) {
    list.push_back(json::Object{{"kind", baseline.kind},
                                {"class", predict::to_string(baseline.verdict)},
                                {"missing_bytes", baseline.missing_bytes}});
  }
  return list;
}

json::Value pareto_json(const std::optional<std::vector<search::ParetoPoint>>& points) {
  if (!points) return {};
  json::Array list;
  for (const search::ParetoPoint& point : *points) {
    list.push_back(json::Object{{"devices", point.devices},
                                {"allocated_bytes", point.live_peak_bytes},
                                {"step_seconds", point.plan.step_seconds},
                                {"plan", plan::to_json(point.plan.plan)}});
  }
  return list;
}

json::Value asked_json(const PlanVerbResult& result) {
  if (!result.asked) return {};
  const PredictResult& asked = *result.asked;
  json::Value slower;
  if (asked.time.step && !result.best().plans.empty()) {
    const double fastest = result.best().plans.front().time.step->tokens_per_second_per_device *
                           static_cast<double>(result.best().count);
    const double speed = asked.time.step->tokens_per_second_per_device *
                         static_cast<double>(asked.planned.plan.devices());
    slower = (fastest / speed - 1) * 100;
  }
  return json::Object{
      {"plan", plan::to_json(asked.planned.plan)},
      {"memory", memory_json(asked.planned.memory, asked.planned.capacity, asked.sure)},
      {"time", time_json(asked.time.step, asked.sure)},
      {"run", run_json(asked.time.run)},
      {"verdict", asked.verdict ? verdict_json(*asked.verdict) : json::Value()},
      {"slower_percent", std::move(slower)}};
}

}  // namespace

json::Value to_json(const PlanVerbResult& result) {
  if (!result.changed.empty()) return difference_json(result.changed[0], result.changed[1]);
  const SearchedDevice& best = result.best();
  return json::Object{{"schema", "fourhold.plan/1"},
                      {"model", model_json(result.name, result.counts)},
                      {"device", device_json(best.name(), best.capacity)},
                      {"chosen", texts_json(result.chosen)},
                      {"plans", plans_json(result.devices)},
                      {"verdict", verdict_json(best.verdict)},
                      {"fit_probability", number_json(best.shown().sure.fit_probability)},
                      {"baselines", baselines_json(result.baselines)},
                      {"rejected", rejected_json(best.result)},
                      {"search", search_json(best.result.counts)},
                      {"scaling", scaling_json(result.scaling)},
                      {"devices", devices_json(result.devices)},
                      {"pareto", pareto_json(result.pareto)},
                      {"asked", asked_json(result)},
                      {"notes", texts_json(result.notes)}};
}

}  // namespace fourhold::api
