// The choices a request leaves open.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fourhold/api/run.h"
#include "fourhold/plan/plan.h"
#include "fourhold/predict/memory.h"
#include "fourhold/predict/verdict.h"

namespace fourhold::api {

struct PlannedRun {
  plan::Plan plan;
  predict::MemoryPrediction memory;
  std::optional<predict::Capacity> capacity;  // absent without a device
  std::vector<std::string> searched{};  // fields that were not given and that choose_plan chose
};

// The plan that says what the request says, and its memory. On a device with rates, zero,
// recompute, offload and virtual stages that are not given are those of the fastest plan that fits,
// found by search with the rest fixed; so is the micro-batch where the global batch is given (else
// it is 1). Without rates (--memory alone) the first that fits is taken, tried in the order offload
// none, optimizer, optimizer+gradients, all; within it recompute none, selective, full; within it
// zero from low to high: what costs least time first. Where none fits, the one that misses by
// the least share of the memory it exceeds. Without a device the first is taken. Throws Error for a
// request that no choice makes legal.
[[nodiscard]] PlannedRun choose_plan(const LoadedRun& run);

// The plan exactly as given: what is open has its first value (plan::complete).
[[nodiscard]] PlannedRun complete_plan(const LoadedRun& run);

}  // namespace fourhold::api
