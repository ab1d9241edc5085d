#include "fourhold/search/best_plans.h"

#include <algorithm>

namespace fourhold::search {

bool BestPlans::before(const Entry& a, const Entry& b) {
  if (a.seconds != b.seconds) return a.seconds < b.seconds;
  return a.candidate < b.candidate;
}

bool BestPlans::excludes(double bound_seconds) const {
  // A bound and a replay sum the same numbers in another order: equal up to rounding is not less.
  constexpr double kRounding = 1e-9;
  const double least = bound_seconds * (1 - kRounding);
  return least > most_seconds_ || (entries_.size() == most_ && least > entries_.back().seconds);
}

bool BestPlans::would_take(double seconds, const Candidate& candidate) const {
  if (seconds > most_seconds_) return false;
  return entries_.size() < most_ || before({seconds, candidate}, entries_.back());
}

void BestPlans::add(double seconds, const Candidate& candidate) {
  const Entry entry{seconds, candidate};
  entries_.insert(std::upper_bound(entries_.begin(), entries_.end(), entry, before), entry);
  if (entries_.size() > most_) entries_.pop_back();
}

std::vector<FoundPlan> BestPlans::plans(const Space& space) const {
  std::vector<FoundPlan> list;
  list.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    list.push_back({entry.candidate, plan_of(entry.candidate, space), entry.seconds});
  }
  return list;
}

}  // namespace fourhold::search
