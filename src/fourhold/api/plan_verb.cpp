#include "fourhold/api/plan_verb.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "fourhold/api/answer_costs.h"
#include "fourhold/api/defaults.h"
#include "fourhold/api/duration_verdict.h"
#include "fourhold/api/plan_file_use.h"
#include "fourhold/api/plan_usage.h"
#include "fourhold/api/plan_verb_tables.h"
#include "fourhold/api/run_notes.h"
#include "fourhold/api/search_request.h"
#include "fourhold/api/what_if.h"
#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/plan/compute_type.h"
#include "fourhold/plan/legal_values.h"
#include "fourhold/predict/rates.h"

namespace fourhold::api {
namespace {

using predict::VerdictClass;

constexpr std::size_t kRankedPlans = 10;
// Among so many of the fastest, alternatives are looked for.
constexpr std::size_t kComparedPlans = 100;

// What the compared plan fixes of the question: everything but the splits the search is for.
void take_question(const plan::Plan& plan, plan::PlanRequest& request) {
  const auto take = [](auto& field, const auto& value) {
    if (!field) field = value;
  };
  take(request.count, plan.devices());
  take(request.seq, plan.seq);
  take(request.global_batch, plan.global_batch);
  take(request.precision, plan.precision);
  take(request.optimizer, plan.optimizer);
  take(request.first_moment, plan.first_moment);
  take(request.second_moment, plan.second_moment);
  take(request.gradient_accumulation, plan.gradient_accumulation);
  take(request.loss_chunk, plan.loss_chunk);
  take(request.prediction_layers, plan.prediction_layers);
  take(request.tuning, plan.tuning);
  take(request.lora_rank, plan.lora_rank);
  take(request.lora_targets, plan.lora_targets);
  take(request.lora_dropout, plan.lora_dropout);
  take(request.base_precision, plan.base_precision);
  take(request.modules_to_save, plan.modules_to_save);
  take(request.profile, plan.profile);
}

void read_compared_plan(const std::string& path, RunRequest& run, TimeRequest& time) {
  run.plan_file = path;
  try {
    read_plan_file(run, time);
  } catch (const Error& fault) {
    throw fault.inside("--from");
  }
  if (run.model.empty()) {
    throw Error("--from: " + path, "names no model",
                fmt::format("name it: `fourhold plan MODEL --from {}`", path));
  }
}

RankedPlan ranked(const SearchedDevice& device, const TimeRequest& time, plan::Plan plan,
                  std::optional<predict::SingleDevice> single) {
  RankedPlan out;
  out.memory = predict::predict_memory(device.run.model, plan, device.run.profile);
  predict::limit_reserved(device.run.model, plan, device.run.profile, device.capacity.usable_bytes,
                          out.memory);
  out.time = time_answer(device.run, time, plan, single);
  out.sure =
      sureness_of(device.run.residuals, out.memory, device.capacity, predicted_seconds(out.time));
  out.plan = std::move(plan);
  return out;
}

// What the plans that were found cost, fastest first.
std::vector<TimedPlan> timed_plans(const SearchedDevice& device, const TimeRequest& time) {
  std::vector<TimedPlan> plans;
  for (const RankedPlan& plan : device.plans) {
    plans.push_back({plan.plan, plan.time.step ? plan.time.step->step_seconds : 0,
                     plan.memory.device_bytes.count()});
  }
  if (time.speed_is_given()) return plans;  // no plan is faster than another
  const std::vector<search::FoundPlan>& found = device.result.plans;
  for (std::size_t i = plans.size(); i < found.size(); ++i) {
    predict::MemoryPrediction memory = predict::predict_memory(
        device.run.model, found[i].plan, device.run.profile, predict::WithLedger::no);
    predict::limit_reserved(device.run.model, found[i].plan, device.run.profile,
                            device.capacity.usable_bytes, memory);
    plans.push_back({found[i].plan, found[i].step_seconds, memory.device_bytes.count()});
  }
  return plans;
}

// The run's request with what a search needs; says what it chose.
void complete_question(SearchedDevice& device) {
  plan::PlanRequest& request = device.run.request;
  if (!request.count) {
    throw Error("--count", "is missing: how many devices are there?", "add for example --count 8");
  }
  if (!request.global_batch) {
    request.global_batch = usual_global_batch(request);
    std::vector<std::string>& chosen = device.run.chosen;
    if (std::find(chosen.begin(), chosen.end(), "global_batch") == chosen.end()) {
      chosen.emplace_back("global_batch");
    }
  }
  refuse_impossible_splits(request);
  device.count = *request.count;
  device.capacity = capacity_of(*device.run.target, device.run.target_request, device.count);
}

[[noreturn]] void refuse_illegal(const SearchedDevice& device) {
  const std::int64_t groups = device.run.request.shard_groups.value_or(1);
  std::vector<std::string> reasons;
  for (const search::Rejection& rejection : device.result.rejected) {
    reasons.push_back(
        fmt::format("{} because {}", format_count(rejection.count), reason_text(rejection.reason)));
  }
  if (groups > 1 && device.count % groups != 0) {
    throw Error("--shard-groups",
                fmt::format("{} do not divide the {} devices, and so no dp x cp / ep of theirs",
                            groups, device.count),
                fmt::format("use --shard-groups {}",
                            plan::nearest_text(plan::divisors(device.count), groups)));
  }
  const std::int64_t batch = *device.run.request.global_batch;
  // Replicas divide the devices, so a batch that the devices divide has no trouble with them.
  const std::string batches = plan::to_string(plan::multiples_around(batch, device.count));
  throw Error("--count",
              fmt::format("no split of global batch {} over {} devices is legal: {}", batch,
                          device.count, fmt::join(reasons, "; ")),
              batch % device.count == 0
                  ? std::string("leave out a flag that fixes a split, or choose another --count")
                  : fmt::format("use --global-batch {}, multiples of the devices, or another "
                                "--count",
                                batches));
}

// What a memory alone leaves open is how fast it is.
[[noreturn]] void refuse_missing_device(const RunRequest& run) {
  if (!run.target.memory) {
    throw Error("--device", "is missing: plan searches the fastest split for a device",
                "add for example --device h100-sxm-80gb; `fourhold hardware` lists the devices");
  }
  throw Error("--device",
              fmt::format("is missing: --memory {} has no speed, so no split is the fastest",
                          format_bytes(*run.target.memory)),
              fmt::format("add the device whose speed counts, such as --device {}, or ask "
                          "`fourhold fit`, which needs none",
                          nearest_device(*run.target.memory)));
}

search::SearchRequest request_of(const SearchedDevice& device, const PlanVerbRequest& asked,
                                 std::string what) {
  search::SearchRequest request = search_request_of(device.run, device.run.request);
  request.space.tp_across_nodes = asked.tp_across_nodes;
  if (asked.bounds.has_value() && !*asked.bounds) request.bounds = search::Bounds::off;
  if (asked.progress) {
    request.progress = [&asked, what = std::move(what)](std::int64_t done, std::int64_t all) {
      asked.progress(what, done, all);
    };
  }
  return request;
}

SearchedDevice searched(const PlanVerbRequest& asked, const RunRequest& run,
                        const std::string& name) {
  SearchedDevice device;
  RunRequest one = run;
  one.target.device = name;
  device.asked = name;
  device.run = load_run(one);
  complete_question(device);
  // Refuses a device on which no time can be predicted, in the words of the rates.
  const auto precision = device.run.request.precision.value_or(plan::Precision::bf16);
  static_cast<void>(predict::rates_of(device.run.target->cluster.device, device.run.profile,
                                      plan::compute_type(precision)));
  search::SearchRequest request = request_of(device, asked, "searching plans for " + device.name());
  request.best = kComparedPlans;
  device.result = search::find_plans(request);
  const LoadedRun& loaded = device.run;
  if (device.result.plans.empty()) {
    std::optional<plan::Plan> nearest = nearest_miss(device.run, device.capacity, device.result);
    if (!nearest) refuse_illegal(device);
    device.near_miss = ranked(device, asked.time, *std::move(nearest), std::nullopt);
  } else {
    hardware::Cluster cluster = loaded.target->cluster;
    cluster.count = device.count;
    device.single = predict::single_device(loaded.model, device.result.plans.front().plan,
                                           loaded.profile, cluster);
    for (const search::FoundPlan& found : device.result.plans) {
      if (device.plans.size() == kRankedPlans) break;
      device.plans.push_back(ranked(device, asked.time, found.plan, device.single));
    }
    device.alternatives = alternatives_of(timed_plans(device, asked.time), kRankedPlans);
  }
  const RankedPlan& shown = device.shown();
  device.verdict =
      predict::decide(loaded.model, shown.plan, loaded.profile, shown.memory, device.capacity);
  return device;
}

// Smaller is better: sooner done, then cheaper.
std::pair<double, double> order_of(const RankedPlan& plan) {
  const double speed = plan.time.step ? plan.time.step->tokens_per_second_per_device *
                                            static_cast<double>(plan.plan.devices())
                                      : 0;
  return {-speed, plan.time.run ? plan.time.run->cost_usd.value_or(0) : 0};
}

// Devices on which nothing fits come last.
bool is_better(const SearchedDevice& a, const SearchedDevice& b) {
  if (a.plans.empty() != b.plans.empty()) return b.plans.empty();
  return order_of(a.shown()) < order_of(b.shown());
}

// The plan of --from, for the model it names where no other is named.
PredictResult changed_plan(const PlanVerbRequest& request,
                           const std::vector<std::string>& changes) {
  RunRequest run = request.run;
  TimeRequest time = request.time;
  read_compared_plan(request.from, run, time);
  check(time);
  if (!changes.empty()) {
    // Devices stay as many as they are: those of the complete plan.
    const LoadedRun before = load_run(run);
    take_question(complete_plan(before).plan, run.plan);
    apply_changes(changes, run.plan);
  }
  return predict_run(load_run(run), time);
}

// Why the global batch that was chosen is not the usual one; "" where it is.
std::string other_batch_text(const SearchedDevice& device) {
  const plan::PlanRequest& request = device.run.request;
  const std::int64_t usual = usual_sequences(*request.seq);
  if (*request.global_batch == usual) return {};
  const bool given = request.micro_batch || request.grad_accum || request.dp;
  return fmt::format("global batch {} for {}, not {}", *request.global_batch,
                     given ? "what is given" : fmt::format("{} devices", device.count), usual);
}

void add_notes(const PlanVerbRequest& request, PlanVerbResult& result) {
  const SearchedDevice& best = result.best();
  result.notes = best.run.notes;
  add_run_notes({best.shown().plan, best.shown().memory, best.capacity}, best.run.profile,
                result.notes);
  add_experts_note(best.run.model, best.shown().plan, result.notes);
  add_time_notes(best.run, request.time, best.shown().time, result.notes);
  for (const std::string& name : best.run.chosen) {
    if (name == "global_batch") {
      result.other_batch = other_batch_text(best);
      result.notes.push_back(
          fmt::format("the global batch is taken to be {} sequences ({} tokens per step{}): it is "
                      "part of the recipe, so give yours with --global-batch",
                      *best.run.request.global_batch,
                      format_count(*best.run.request.global_batch * *best.run.request.seq),
                      result.other_batch.empty() ? ", whatever the count" : ""));
    }
    if (name == "global_batch" || name == "seq" || name == "precision" || name == "optimizer" ||
        name == "tuning" || name == "lora_rank" || name == "profile") {
      result.chosen.push_back(name);
    }
  }
}

}  // namespace

std::vector<PlanAt> plans_in_order(const std::vector<SearchedDevice>& devices) {
  std::vector<PlanAt> list;
  for (const SearchedDevice& device : devices) {
    for (const RankedPlan& plan : device.plans) list.push_back({&device, &plan});
  }
  // Plans of one device keep the order of the search.
  if (devices.size() > 1) {
    std::stable_sort(list.begin(), list.end(), [](const PlanAt& a, const PlanAt& b) {
      return order_of(*a.plan) < order_of(*b.plan);
    });
  }
  return list;
}

PlanVerbResult find_plan(const PlanVerbRequest& asked) {
  refuse_contradictions(asked);
  PlanVerbResult result;
  if (!asked.changes.empty()) {
    result.changed.push_back(changed_plan(asked, {}));
    result.changed.push_back(changed_plan(asked, asked.changes));
    return result;
  }
  PlanVerbRequest request = asked;  // with what plan files say
  RunRequest& run = request.run;
  if (!request.from.empty()) {
    result.asked = changed_plan(asked, {});
    RunRequest named = run;
    read_compared_plan(request.from, named, request.time);
    run.model = named.model;
    run.target = named.target;
    run.notes = named.notes;
    take_question(result.asked->planned.plan, run.plan);
  }
  read_plan_file(run, request.time);  // it may name the device
  check(request.time);
  if (run.target.device.empty()) refuse_missing_device(run);
  const std::vector<std::string> names = device_parts(run.target.device);
  refuse_same_devices(names, run);
  for (const std::string& name : names) {
    result.devices.push_back(searched(request, run, name));
  }
  std::stable_sort(result.devices.begin(), result.devices.end(), is_better);
  for (SearchedDevice& device : result.devices) {
    judge_duration(device.run, request.time, device.shown().plan, device.shown().time,
                   device.verdict,
                   request_of(device, request, "devices for the deadline on " + device.name()));
    add_time_costs(device.run, device.shown().plan, device.verdict);
  }
  const SearchedDevice& best = result.best();
  result.name = display_name(best.run.model.name);
  result.model = run.model;
  result.counts = best.run.counts;
  result.output = request.output;
  result.time = request.time;
  const plan::Plan& plan = best.shown().plan;
  result.baselines = baselines(best.run, request.time, plan);
  const std::vector<std::int64_t> counts = search::doubling_counts(best.count);
  if (!best.plans.empty()) {
    result.scaling = search::scaling_curve(request_of(best, request, "scaling curve"), plan,
                                           best.single.step_seconds, counts);
  }
  if (request.pareto) {
    result.pareto = search::pareto_front(request_of(best, request, "Pareto front"), counts);
  }
  add_notes(request, result);
  return result;
}

}  // namespace fourhold::api
