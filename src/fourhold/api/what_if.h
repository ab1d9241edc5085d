// A plan with some of its fields changed.
#pragma once

#include <string>
#include <vector>

#include "fourhold/api/run.h"

namespace fourhold::api {

// Makes "tp=4", "recompute=full" ... of a request in which all fields may be given. What follows
// from a changed field is left open, so that it is worked out anew: replicas and accumulation steps
// keep devices and global batch, the layout follows the stages. Throws Error for what is no
// FIELD=VALUE, for an unknown field and for a field that is changed twice.
void apply_changes(const std::vector<std::string>& changes, plan::PlanRequest& request);

}  // namespace fourhold::api
