// The search that a run's request stands for.
#pragma once

#include <cstdint>
#include <optional>

#include "fourhold/api/run.h"
#include "fourhold/api/target.h"
#include "fourhold/search/search.h"

namespace fourhold::api {

// `given` has count, seq and global_batch; what else it leaves open is searched. The run has a
// target, and outlives the request.
[[nodiscard]] search::SearchRequest search_request_of(const LoadedRun& run,
                                                      const plan::PlanRequest& given);

// By what share of what there is a plan exceeds the memory it exceeds most, device or host; 0: it
// fits.
[[nodiscard]] double missing_share(const predict::MemoryPrediction& memory,
                                   const predict::Capacity& capacity);

// Of the nearest misses of all reasons the one of the least missing_share: a plan that lacks little
// of the device may lack much of the host. Nothing where every candidate is illegal.
[[nodiscard]] std::optional<plan::Plan> nearest_miss(const LoadedRun& run,
                                                     const predict::Capacity& capacity,
                                                     const search::SearchResult& result);

}  // namespace fourhold::api
