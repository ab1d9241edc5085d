#include "fourhold/search/space.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/plan/legal_values.h"
#include "fourhold/plan/plan_fields.h"

namespace fourhold::search {
namespace {

using plan::Offload;
using plan::PlanRequest;
using plan::RecomputePolicy;

constexpr std::int64_t kMostContextParallel = 16;
constexpr std::int64_t kLeastContextPiece = 128;

Illegal reason_of(std::string_view field) {
  if (field == "tp") return Illegal::widths;
  if (field == "seq") return Illegal::sequence;
  if (field == "ep") return Illegal::experts;
  if (field == "shard_groups") return Illegal::shard_groups;
  return Illegal::profile;
}

// Refuses a given split that no plan of this model can have, whatever the rest is.
void check_given(const SpaceRequest& request) {
  PlanRequest probe = request.plan;
  probe.count.reset();
  probe.dp.reset();
  probe.global_batch.reset();
  probe.ep.reset();  // depends on dp x cp
  probe.shard_groups.reset();
  // Whether there is such a split is still open.
  if (!probe.tp) probe.sp.reset();
  if (!probe.pp) probe.schedule.reset();
  static_cast<void>(plan::complete(probe, *request.config, *request.profile));
}

}  // namespace

Space::Space(const SpaceRequest& request) : request_(request) {
  check_given(request);
  const PlanRequest& given = request_.plan;
  zeros_ = given.zero ? std::vector<int>{*given.zero} : request_.profile->zero_stages;
  if (given.shard_groups.value_or(1) > 1 && !given.zero) std::erase(zeros_, 0);
  if (given.offload) {
    offloads_ = {*given.offload};
  } else if (request_.profile->can("offload")) {
    offloads_ = {Offload::none, Offload::optimizer, Offload::optimizer_gradients, Offload::all};
  } else {
    offloads_ = {Offload::none};
  }
}

std::vector<std::int64_t> Space::tensor_degrees() const {
  if (request_.plan.tp) return {*request_.plan.tp};
  if (!request_.profile->can("tp")) return {1};
  plan::TensorDegrees degrees = plan::tensor_degrees(*request_.config);
  std::vector<std::int64_t> list = std::move(degrees.clean);
  list.insert(list.end(), degrees.replicated.begin(), degrees.replicated.end());
  std::sort(list.begin(), list.end());
  if (!request_.tp_across_nodes) {
    std::erase_if(list, [this](std::int64_t tp) { return tp > request_.devices_per_node; });
  }
  // Sequence parallelism is asked for, so tensor parallelism is.
  if (request_.plan.sp == true && list.size() > 1) std::erase(list, 1);
  return list;
}

std::vector<std::int64_t> Space::stage_counts() const {
  if (request_.plan.pp) return {*request_.plan.pp};
  if (!request_.profile->can("pp")) return {1};
  // Plans with a pipeline keep their activations.
  if (request_.plan.activation_offload.value_or(plan::ActivationOffload::none) !=
      plan::ActivationOffload::none) {
    return {1};
  }
  const std::int64_t most = std::min(request_.config->layer_count(), plan::kStageRange.most);
  std::vector<std::int64_t> list(static_cast<std::size_t>(most));
  std::iota(list.begin(), list.end(), std::int64_t{1});
  if (request_.plan.schedule == plan::ScheduleKind::gpipe && most > 1) std::erase(list, 1);
  return list;
}

std::vector<std::int64_t> Space::context_degrees() const {
  if (request_.plan.cp) return {*request_.plan.cp};
  std::vector<std::int64_t> list{1};
  if (!request_.profile->can("cp")) return list;
  for (std::int64_t cp = 2; cp <= kMostContextParallel; cp *= 2) {
    if (*request_.plan.seq / (2 * cp) >= kLeastContextPiece) list.push_back(cp);
  }
  return list;
}

std::vector<std::int64_t> Space::expert_degrees() const {
  if (request_.plan.ep) return {*request_.plan.ep};
  std::int64_t experts = 0;
  for (const model::LayerKind& kind : request_.config->kinds) {
    if (kind.feed_forward.kind == model::FeedForwardKind::experts) {
      experts = std::gcd(experts, kind.feed_forward.experts);
    }
  }
  if (experts == 0 || !request_.profile->can("ep")) return {1};
  return plan::divisors(experts);
}

std::vector<OuterTuple> Space::outer_tuples() const {
  const std::vector<std::int64_t> pps = stage_counts();
  const std::vector<std::int64_t> cps = context_degrees();
  const std::vector<std::int64_t> eps = expert_degrees();
  std::vector<OuterTuple> tuples;
  for (const std::int64_t tp : tensor_degrees()) {
    for (const std::int64_t pp : pps) {
      for (const std::int64_t cp : cps) {
        const std::int64_t ranks = plan::saturating_product({tp, pp, cp});
        const std::int64_t dp = devices() % ranks == 0 ? devices() / ranks : 0;
        if (request_.plan.dp && dp != 0 && dp != *request_.plan.dp) continue;
        for (const std::int64_t ep : eps) tuples.push_back({tp, pp, cp, ep, dp});
      }
    }
  }
  return tuples;
}

std::optional<Illegal> Space::illegal(const OuterTuple& outer) const {
  if (outer.dp == 0) return Illegal::devices;
  const std::int64_t per_replica = *request_.plan.global_batch / outer.dp;
  if (*request_.plan.global_batch % outer.dp != 0) return Illegal::global_batch;
  if (micro_batches(outer).empty()) return Illegal::global_batch;
  if (outer.dp * outer.cp % outer.ep != 0) return Illegal::experts;
  PlanRequest probe = request_.plan;
  probe.tp = outer.tp;
  probe.pp = outer.pp;
  probe.cp = outer.cp;
  probe.ep = outer.ep;
  probe.dp = outer.dp;
  probe.zero = zeros_.front();
  probe.offload = offloads_.front();
  // What inner choices can make illegal is theirs: see Illegal::rounds.
  if (!probe.vpp) probe.grad_accum.reset();
  probe.micro_batch = probe.grad_accum ? per_replica / *probe.grad_accum : 1;
  try {
    static_cast<void>(plan::complete(probe, *request_.config, *request_.profile));
  } catch (const Error& error) {
    if (error.where() == "grad_accum") return std::nullopt;
    return reason_of(error.where());
  }
  return std::nullopt;
}

std::vector<std::int64_t> Space::vpps(const OuterTuple& outer) const {
  const PlanRequest& given = request_.plan;
  const std::int64_t layers = request_.config->layer_count();
  if (given.vpp) return {*given.vpp};
  if (given.layers_per_stage) {
    return {static_cast<std::int64_t>(given.layers_per_stage->size()) / outer.pp};
  }
  const bool interleaves =
      outer.pp > 1 && request_.profile->can("vpp") &&
      given.schedule.value_or(plan::ScheduleKind::interleaved) == plan::ScheduleKind::interleaved;
  std::vector<std::int64_t> list;
  if (given.schedule != plan::ScheduleKind::interleaved) list.push_back(1);
  if (!interleaves || layers % outer.pp != 0) return list;
  for (const std::int64_t vpp : plan::divisors(layers / outer.pp)) {
    if (vpp > 1 && vpp <= plan::kChunkRange.most) list.push_back(vpp);
  }
  return list;
}

std::vector<std::int64_t> Space::micro_batches(const OuterTuple& outer) const {
  const std::int64_t per_replica = *request_.plan.global_batch / outer.dp;
  std::vector<std::int64_t> list = plan::divisors(per_replica);
  std::erase_if(list, [&](std::int64_t micro_batch) {
    const PlanRequest& given = request_.plan;
    return (given.micro_batch && micro_batch != *given.micro_batch) ||
           (given.grad_accum && per_replica / micro_batch != *given.grad_accum);
  });
  return list;
}

std::vector<RecomputePolicy> Space::recomputes(const OuterTuple& outer) const {
  if (request_.plan.recompute) return {*request_.plan.recompute};
  if (request_.profile->recompute_choice == plan::RecomputeChoice::saved_names) {
    std::vector<RecomputePolicy> named{plan::recompute_from_string("none"),
                                       plan::recompute_from_string("full")};
    for (const std::string_view set : plan::saved_set_names()) {
      named.push_back(plan::recompute_from_string(set));
    }
    return named;
  }
  std::vector<RecomputePolicy> list{plan::recompute_from_string("none"),
                                    plan::recompute_from_string("selective"),
                                    plan::recompute_from_string("full")};
  RecomputePolicy partly = list.back();
  const std::int64_t most = ceil_divide(request_.config->layer_count(), outer.pp);
  for (partly.full_layers = 1; partly.full_layers < most; ++partly.full_layers) {
    list.push_back(partly);
  }
  return list;
}

std::int64_t Space::candidates(const OuterTuple& outer) const {
  return static_cast<std::int64_t>(vpps(outer).size() * zeros_.size() *
                                   micro_batches(outer).size() * recomputes(outer).size() *
                                   offloads_.size());
}

plan::Plan Space::plan(const OuterTuple& outer, std::int64_t vpp, int zero,
                       std::int64_t micro_batch, const RecomputePolicy& recompute,
                       Offload offload) const {
  PlanRequest request = request_.plan;
  request.tp = outer.tp;
  request.pp = outer.pp;
  request.cp = outer.cp;
  request.ep = outer.ep;
  request.dp = outer.dp;
  request.vpp = vpp;
  request.zero = zero;
  request.micro_batch = micro_batch;
  request.recompute = recompute;
  request.offload = offload;
  return plan::complete(request, *request_.config, *request_.profile);
}

}  // namespace fourhold::search
