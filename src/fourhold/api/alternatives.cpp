#include "fourhold/api/alternatives.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fourhold::api {
namespace {

bool is_close(double a, double b) { return std::abs(a - b) <= kAlikeShare * std::min(a, b); }

bool are_alike(const TimedPlan& a, const TimedPlan& b) {
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
};

}  // namespace

std::vector<Alternative> alternatives_of(const std::vector<TimedPlan>& plans, std::size_t most) {
  std::vector<PlanGroup> groups;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const PlanGroup& one) {
      return are_alike(plans[one.fastest], plans[i]);
    });
    if (group == groups.end()) {
      groups.push_back({i, i, 1});
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
