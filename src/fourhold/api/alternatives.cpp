#include "fourhold/api/alternatives.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fourhold::api {
namespace {

bool is_close(double a, double b) { return std::abs(a - b) <= kAlikeShare * std::min(a, b); }

// Whether `more` is the same plan with more layers recomputed.
bool recomputes_more(const TimedPlan& more, const TimedPlan& plan) {
  using plan::RecomputeKind;
  const plan::RecomputePolicy& policy = plan.plan.recompute;
  if (more.plan.recompute.kind != RecomputeKind::full) return false;
  if (policy.kind != RecomputeKind::none && policy.kind != RecomputeKind::full) return false;
  plan::Plan same = more.plan;
  same.recompute = policy;
  return same == plan.plan;
}

bool cost_alike(const TimedPlan& a, const TimedPlan& b) {
  return is_close(a.step_seconds, b.step_seconds) &&
         is_close(static_cast<double>(a.device_bytes), static_cast<double>(b.device_bytes));
}

// Splits and policies in use; replicas alone are no split.
std::int64_t complexity(const plan::Plan& plan) {
  const std::array in_use{plan.tp > 1,
                          plan.pp > 1,
                          plan.vpp > 1,
                          plan.cp > 1,
                          plan.ep > 1,
                          plan.zero > 0,
                          plan.recompute.kind != plan::RecomputeKind::none,
                          plan.offload != plan::Offload::none};
  return std::count(in_use.begin(), in_use.end(), true);
}

// By index into the plans.
struct PlanGroup {
  std::size_t fastest = 0;
  std::size_t simplest = 0;
  std::int64_t size = 1;
  std::vector<std::size_t> kin{};  // the fastest, and that with more layers recomputed
};

}  // namespace

std::vector<Alternative> alternatives_of(const std::vector<TimedPlan>& plans, std::size_t most) {
  std::vector<PlanGroup> groups;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const PlanGroup& one) {
      return recomputes_more(plans[i], plans[one.fastest]);
    });
    if (group != groups.end()) {
      group->kin.push_back(i);
    } else {
      group = std::find_if(groups.begin(), groups.end(), [&](const PlanGroup& one) {
        return std::any_of(one.kin.begin(), one.kin.end(),
                           [&](std::size_t member) { return cost_alike(plans[member], plans[i]); });
      });
    }
    if (group == groups.end()) {
      groups.push_back({i, i, 1, {i}});
      continue;
    }
    ++group->size;
    if (complexity(plans[i].plan) < complexity(plans[group->simplest].plan)) group->simplest = i;
  }
  std::vector<Alternative> list;
  for (const PlanGroup& group : groups) {
    if (list.empty() && group.fastest != group.simplest) {
      list.push_back({plans[group.fastest], 0});
      list.push_back({plans[group.simplest], group.size - 2});
    } else {
      list.push_back({plans[group.simplest], group.size - 1});
    }
  }
  if (list.size() > most) list.resize(most);
  if (list.empty()) return list;
  // The fastest stays first; of a later group not its fastest may be shown.
  std::stable_sort(list.begin() + 1, list.end(), [](const Alternative& a, const Alternative& b) {
    return a.shown.step_seconds < b.shown.step_seconds;
  });
  return list;
}

}  // namespace fourhold::api
