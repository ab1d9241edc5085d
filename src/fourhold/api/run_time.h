// How long a plan's step and the whole run take, as `predict` and `plan` answer it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/api/run.h"
#include "fourhold/api/time_options.h"
#include "fourhold/plan/plan.h"
#include "fourhold/predict/part_seconds.h"
#include "fourhold/predict/scaling.h"

namespace fourhold::api {

// What is not known stays absent: the parts of a step whose speed the user gave, rates on a device
// without a peak.
struct StepAnswer {
  double step_seconds = 0;
  double tokens_per_second_per_device = 0;
  double tflops_per_device = 0;
  std::optional<double> mfu;
  std::optional<double> hfu;
  std::optional<predict::PartSeconds> parts;
};

struct RunAnswer {
  std::int64_t tokens = 0;
  double days = 0;
  // Absent where the speed was given: one device's is then not known.
  std::optional<double> single_device_days;
  std::optional<double> speedup;
  std::optional<double> speedup_kept;
  std::optional<double> cost_usd;  // absent without a price
  double deadline_days = 0;        // above it the run takes too long
  bool deadline_is_given = false;  // else kUsualDeadlineDays
};

struct TimeAnswer {
  std::optional<StepAnswer> step;  // absent: `why_not` says why
  std::optional<RunAnswer> run;    // absent without tokens
  std::string why_not;
};

// A plan's time under the request's speed, or as predicted. `single` spares computing it again
// where several plans share it (see predict::single_device).
[[nodiscard]] TimeAnswer time_answer(const LoadedRun& run, const TimeRequest& request,
                                     const plan::Plan& plan,
                                     std::optional<predict::SingleDevice> single = std::nullopt);

// Seconds of a step that was predicted: nothing where the speed was given or is not known.
[[nodiscard]] std::optional<double> predicted_seconds(const TimeAnswer& time);

// Seconds of a step, or nothing where the device has not what they need.
[[nodiscard]] std::optional<double> step_seconds_of(const LoadedRun& run, const plan::Plan& plan);

// Dollars per device and hour: as given, or the device's list price.
[[nodiscard]] std::optional<double> price_of(const LoadedRun& run, const TimeRequest& request);

// Notes on a speed that was given, a price taken from a list, and a time that is not known.
void add_time_notes(const LoadedRun& run, const TimeRequest& request, const TimeAnswer& time,
                    std::vector<std::string>& notes);

}  // namespace fourhold::api
