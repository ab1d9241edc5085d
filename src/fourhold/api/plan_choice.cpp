#include "fourhold/api/plan_choice.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "fourhold/api/search_request.h"
#include "fourhold/base/error.h"

namespace fourhold::api {
namespace {

using plan::Offload;
using plan::PlanRequest;
using plan::RecomputeKind;

// All requests the open choices stand for, in the order of trying.
std::vector<PlanRequest> candidates_of(const PlanRequest& request, const plan::Profile& profile,
                                       const plan::Plan& first) {
  std::vector<Offload> offloads{first.offload};
  if (!request.offload && profile.can("offload")) {
    offloads = {Offload::none, Offload::optimizer, Offload::optimizer_gradients, Offload::all};
  }
  std::vector<plan::RecomputePolicy> recomputes{first.recompute};
  if (!request.recompute) {
    recomputes = {plan::recompute_from_string("none")};
    if (profile.recompute_choice == plan::RecomputeChoice::groups) {
      recomputes.push_back(plan::recompute_from_string("selective"));
    } else {
      for (const std::string_view set : plan::saved_set_names()) {
        recomputes.push_back(plan::recompute_from_string(set));
      }
    }
    recomputes.push_back(plan::recompute_from_string("full"));
  }
  std::vector<int> stages{first.zero};
  // One replica has nothing to shard over.
  if (!request.zero && first.dp * first.cp > 1) stages = profile.zero_stages;

  if (first.shard_groups > 1 && !request.zero) std::erase(stages, 0);

  std::vector<PlanRequest> candidates;
  for (const Offload offload : offloads) {
    for (const plan::RecomputePolicy& recompute : recomputes) {
      for (const int zero : stages) {
        PlanRequest candidate = request;
        candidate.offload = offload;
        candidate.recompute = recompute;
        candidate.zero = zero;
        candidates.push_back(std::move(candidate));
      }
    }
  }
  return candidates;
}

// The request with the splits of its first plan, for a search over the rest; nothing where nothing
// is left to choose.
std::optional<PlanRequest> narrowed(const PlanRequest& request, const plan::Plan& first) {
  if (!plan::open_choices(request).any()) return std::nullopt;
  PlanRequest narrow = request;
  narrow.count = first.devices();
  narrow.tp = first.tp;
  narrow.pp = first.pp;
  narrow.cp = first.cp;
  narrow.ep = first.ep;
  narrow.dp.reset();
  narrow.seq = first.seq;
  if (!request.global_batch) {
    narrow.global_batch = first.global_batch;
    narrow.micro_batch = first.micro_batch;
  }
  return narrow;
}

// What choose_plan chooses on a device.
std::vector<std::string> searched_fields(const PlanRequest& request) {
  const plan::OpenChoices open = plan::open_choices(request);
  std::vector<std::string> names;
  const auto add = [&names](bool is_open, const char* name) {
    if (is_open) names.emplace_back(name);
  };
  add(open.zero, "zero");
  add(open.recompute, "recompute");
  add(open.offload, "offload");
  add(open.vpp, "vpp");
  if (!request.global_batch) return names;  // then the micro-batch is 1
  add(open.micro_batch, "micro_batch");
  add(open.micro_batch, "grad_accum");
  return names;
}

// Nothing where the search has nothing to say: no rates, or no legal candidate.
std::optional<plan::Plan> fastest_plan(const LoadedRun& run, const plan::Plan& first) {
  const std::optional<PlanRequest> narrow = narrowed(run.request, first);
  if (!narrow) return first;
  try {
    search::SearchRequest request = search_request_of(run, *narrow);
    request.best = 1;
    search::SearchResult found = search::find_plans(request);
    if (!found.plans.empty()) return std::move(found.plans.front().plan);
    return nearest_miss(run, request.capacity, found);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// With the ledger, and on the device where it is known.
void predict_printed(const LoadedRun& run, PlannedRun& planned) {
  planned.memory = predict::predict_memory(run.model, planned.plan, run.profile);
  if (!planned.capacity) return;
  predict::limit_reserved(run.model, planned.plan, run.profile, planned.capacity->usable_bytes,
                          planned.memory);
}

}  // namespace

PlannedRun complete_plan(const LoadedRun& run) {
  PlannedRun planned;
  planned.plan = plan::complete(run.request, run.model, run.profile);
  if (run.target) {
    planned.capacity = capacity_of(*run.target, run.target_request, planned.plan.devices());
  }
  predict_printed(run, planned);
  return planned;
}

PlannedRun choose_plan(const LoadedRun& run) {
  PlannedRun first = complete_plan(run);
  if (first.capacity) {
    first.searched = searched_fields(run.request);
    if (std::optional<plan::Plan> fastest = fastest_plan(run, first.plan)) {
      if (*fastest == first.plan) return first;
      first.plan = std::move(*fastest);
      predict_printed(run, first);
      return first;
    }
  }
  if (!first.capacity ||
      predict::classify(first.memory, *first.capacity) == predict::VerdictClass::fits) {
    return first;
  }
  plan::Plan best = first.plan;
  double least_missing = missing_share(first.memory, *first.capacity);
  for (const PlanRequest& candidate : candidates_of(run.request, run.profile, first.plan)) {
    plan::Plan plan;
    try {
      plan = plan::complete(candidate, run.model, run.profile);
    } catch (const Error&) {
      continue;  // the profile has no such combination; the first plan is legal
    }
    const predict::MemoryPrediction memory =
        predict::predict_memory(run.model, plan, run.profile, predict::WithLedger::no);
    const bool fits = predict::classify(memory, *first.capacity) == predict::VerdictClass::fits;
    const double missing = missing_share(memory, *first.capacity);
    if (fits || missing < least_missing) {
      best = plan;
      least_missing = missing;
    }
    if (fits) break;
  }
  if (!(best == first.plan)) {
    first.plan = std::move(best);
    predict_printed(run, first);
  }
  return first;
}

}  // namespace fourhold::api
