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

// What a plan lacks of device and host memory together; 0: it fits.
[[nodiscard]] std::int64_t missing_bytes(const predict::MemoryPrediction& memory,
                                         const predict::Capacity& capacity);

// Of the nearest misses of all reasons the one that lacks least in all: a plan that lacks little of
// the device may lack much of the host. Nothing where every candidate is illegal.
[[nodiscard]] std::optional<plan::Plan> nearest_miss(const LoadedRun& run,
                                                     const predict::Capacity& capacity,
                                                     const search::SearchResult& result);

}  // namespace fourhold::api
