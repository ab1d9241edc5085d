// What happens without a split: everything on one device, and a full copy on each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/api/run.h"
#include "fourhold/api/time_options.h"
#include "fourhold/plan/plan.h"
#include "fourhold/predict/verdict.h"

namespace fourhold::api {

struct Baseline {
  std::string_view kind;  // "one_device", "data_parallel"
  plan::Plan plan;
  predict::VerdictClass verdict = predict::VerdictClass::fits;
  std::int64_t missing_bytes = 0;
  std::string why = {};  // one sentence for people
};

// Micro-batch 1, nothing sharded, recomputed or offloaded; otherwise as `like`. Both are judged by
// time too where the run has tokens. Plain data parallel needs a global batch that the devices
// divide: where they do not, one sequence each.
[[nodiscard]] std::vector<Baseline> baselines(const LoadedRun& run, const TimeRequest& time,
                                              const plan::Plan& like);

}  // namespace fourhold::api
