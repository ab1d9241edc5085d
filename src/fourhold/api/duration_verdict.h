// The third of the three failures: it fits, but takes too long.
#pragma once

#include <optional>

#include "fourhold/api/run.h"
#include "fourhold/api/run_time.h"
#include "fourhold/plan/plan.h"
#include "fourhold/predict/verdict.h"
#include "fourhold/search/search.h"

namespace fourhold::api {

// Makes a verdict of `fits` one of `fits_but_takes_too_long` where the run lasts longer than the
// deadline, says so in words, and answers with the fewest devices that meet it. With `open`, a
// search whose splits are open, these are the fewest of any split (search::fewest_devices); without
// it, or where none is found there, the same split with more replicas
// (search::devices_for_deadline; at a given speed, as many devices as keep it). The global batch
// stays where it can be split over them; otherwise it grows, and the answer says to what. No
// verdict without tokens.
void judge_duration(const LoadedRun& run, const TimeRequest& request, const plan::Plan& plan,
                    const TimeAnswer& time, predict::Verdict& verdict,
                    const std::optional<search::SearchRequest>& open = std::nullopt);

}  // namespace fourhold::api
