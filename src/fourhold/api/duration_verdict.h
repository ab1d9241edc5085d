// The third of the three failures: it fits, but takes too long.
#pragma once

#include "fourhold/api/run.h"
#include "fourhold/api/run_time.h"
#include "fourhold/plan/plan.h"
#include "fourhold/predict/verdict.h"

namespace fourhold::api {

// Makes a verdict of `fits` one of `fits_but_takes_too_long` where the run lasts longer than the
// deadline, says so in words, and answers with the fewest devices that meet it: the same split with
// more replicas (search::devices_for_deadline; at a given speed, as many devices as keep it). The
// global batch stays where it can be split over them; otherwise it grows, and the answer says to
// what. No verdict without tokens.
void judge_duration(const LoadedRun& run, const TimeRequest& request, const plan::Plan& plan,
                    const TimeAnswer& time, predict::Verdict& verdict);

}  // namespace fourhold::api
