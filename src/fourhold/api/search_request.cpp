#include "fourhold/api/search_request.h"

#include <algorithm>

namespace fourhold::api {

search::SearchRequest search_request_of(const LoadedRun& run, const plan::PlanRequest& given) {
  search::SearchRequest request;
  request.space.config = &run.model;
  request.space.profile = &run.profile;
  request.space.plan = given;
  request.cluster = run.target->cluster;
  request.cluster.count = *given.count;
  request.capacity = capacity_of(*run.target, run.target_request, *given.count);

  request.space.devices_per_node = request.cluster.devices_per_node;
  return request;
}

double missing_share(const predict::MemoryPrediction& memory, const predict::Capacity& capacity) {
  return predict::share_of(predict::shortfall_of(memory, capacity), capacity);
}

std::optional<plan::Plan> nearest_miss(const LoadedRun& run, const predict::Capacity& capacity,
                                       const search::SearchResult& result) {
  std::optional<plan::Plan> nearest;
  double least = 0;
  for (const search::Rejection& rejection : result.rejected) {
    if (!rejection.nearest) continue;
    const plan::Plan& plan = rejection.nearest->plan;
    const double missing = missing_share(
        predict::predict_memory(run.model, plan, run.profile, predict::WithLedger::no), capacity);
    if (nearest && missing >= least) continue;
    nearest = plan;
    least = missing;
  }
  return nearest;
}

}  // namespace fourhold::api
