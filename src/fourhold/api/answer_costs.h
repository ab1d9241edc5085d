// What each answer costs in time.
#pragma once

#include "fourhold/api/run.h"
#include "fourhold/plan/plan.h"
#include "fourhold/predict/verdict.h"

namespace fourhold::api {

// Sets costs_time_percent of every answer: by how much the device time of a token grows from `plan`
// to the answer's plan (with the second change where there is one). Device time is step time x
// devices / tokens of a step, so more devices that keep their speed cost nothing. Stays absent
// where the device has no rates.
void add_time_costs(const LoadedRun& run, const plan::Plan& plan, predict::Verdict& verdict);

}  // namespace fourhold::api
