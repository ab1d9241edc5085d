// What a plan file adds to a request.
#pragma once

#include "fourhold/api/run.h"
#include "fourhold/api/time_options.h"

namespace fourhold::api {

// Merges the plan file of the request, or its model where that is one, into the request; does
// nothing where there is none. What the flags say stays. Where they name another device than the
// file, what the file says of its own device (memory, host memory, price, speed) is left; where
// they give a speed, the file's is. A note says what else than the plan was taken, and what left.
void read_plan_file(RunRequest& request, TimeRequest& time);
// For questions that are not about time.
void read_plan_file(RunRequest& request);

}  // namespace fourhold::api
