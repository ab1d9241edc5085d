// What cannot be asked of `plan` together, and what no split can have: refused before a search.
#pragma once

#include <string>
#include <vector>

#include "fourhold/api/plan_verb.h"
#include "fourhold/plan/plan_request.h"

namespace fourhold::api {

// Options that would be ignored beside others. Throws Error for changes without a plan to change,
// for what only a search answers beside changes, for several devices beside --from, and for one
// file that two answers would be written to.
void refuse_contradictions(const PlanVerbRequest& request);

// Throws Error for a device that stands twice, under whichever of its names.
void refuse_same_devices(const std::vector<std::string>& names, const RunRequest& run);

// Splits that are given must divide the devices, and the batch they make the global batch; the
// nearest values that do are named. `request` has count and global_batch.
void refuse_impossible_splits(const plan::PlanRequest& request);

}  // namespace fourhold::api
