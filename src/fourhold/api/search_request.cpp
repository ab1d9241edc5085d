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

std::int64_t missing_bytes(const predict::MemoryPrediction& memory,
                           const predict::Capacity& capacity) {
  std::int64_t missing =
      std::max<std::int64_t>(0, (memory.device_bytes - predict::budget_of(capacity)).count());
  if (capacity.host_bytes) {
    const Bytes host = memory.host_bytes + memory.host_staging_bytes;
    missing += std::max<std::int64_t>(0, (host - *capacity.host_bytes).count());
  }
  return missing;
}

std::optional<plan::Plan> nearest_miss(const LoadedRun& run, const predict::Capacity& capacity,
                                       const search::SearchResult& result) {
  std::optional<plan::Plan> nearest;
  std::int64_t least = 0;
  for (const search::Rejection& rejection : result.rejected) {
    if (!rejection.nearest) continue;
    const plan::Plan& plan = rejection.nearest->plan;
    const std::int64_t missing = missing_bytes(
        predict::predict_memory(run.model, plan, run.profile, predict::WithLedger::no), capacity);
    if (nearest && missing >= least) continue;
    nearest = plan;
    least = missing;
  }
  return nearest;
}

}  // namespace fourhold::api
