#include "fourhold/engine/executor/rank_groups.h"

#include <algorithm>

namespace fourhold::engine {
namespace {

Group group_with(const std::vector<std::int64_t>& ranks, std::int64_t rank) {
  Group group;
  group.ranks.assign(ranks.begin(), ranks.end());
  group.place = static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
  return group;
}

}  // namespace

RankGroups::RankGroups(const plan::Plan& plan, std::int64_t rank)
    : plan_(plan), rank_(rank), at_(plan::coordinates(plan, rank)) {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    groups_[i] = group_with(plan::group_of(plan, static_cast<plan::Axis>(i), rank, 1), rank);
  }
}

Group RankGroups::kv_replicas(std::int64_t kv_heads) const {
  return group_with(plan::group_of(plan_, plan::Axis::kv_replicas, rank_, kv_heads), rank_);
}

int RankGroups::holder_of(std::int64_t virtual_stage) const {
  plan::Coordinates there = at_;
  there.pp = virtual_stage % plan_.pp;
  return static_cast<int>(plan::rank_of(plan_, there));
}

}  // namespace fourhold::engine
