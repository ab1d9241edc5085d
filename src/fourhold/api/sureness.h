// How sure a prediction is: intervals of its memory and time, and the probability that it fits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fourhold/api/run_residuals.h"
#include "fourhold/base/json.h"
#include "fourhold/confidence/residual_mixture.h"
#include "fourhold/predict/memory.h"
#include "fourhold/predict/verdict.h"
#include "fourhold/report/screen.h"

namespace fourhold::api {

struct SureInterval {
  double predicted = 0;        // bytes or seconds; within the range
  confidence::Interval range;  // of reserved bytes no more than the device has, if those fit
  confidence::Metric metric = confidence::Metric::step_time;
  std::string basis;  // which runs: confidence::basis_text
  confidence::Scope scope = confidence::Scope::all_profiles;
  std::int64_t rows = 0;
  std::int64_t models = 0;
};

struct Sureness {
  bool exact = false;  // the run reserves the predicted bytes: no interval
  std::optional<SureInterval> memory;
  std::optional<SureInterval> step;
  // Absent without a device. Of the same residuals as `memory`: the share of runs that hold no more
  // than the device has, if what a run needs at least (needed_bytes) is as far off as theirs.
  std::optional<double> fit_probability;
  double most_confidence = 1;  // no probability is above this: its runs are too few to show it
};

// `step_seconds` as predicted, absent where it is not. What does not fit the host fits with
// probability 0, whatever the device says.
[[nodiscard]] Sureness sureness_of(const RunResiduals& residuals,
                                   const predict::MemoryPrediction& memory,
                                   const std::optional<predict::Capacity>& capacity,
                                   std::optional<double> step_seconds);

// {predicted, low, middle, high, coverage, metric, basis{text, scope, rows, models}}, or null.
[[nodiscard]] json::Value interval_json(const std::optional<SureInterval>& interval);

// Where a plan that is said to fit runs out in more than one of five such runs: that, and what to
// ask for, as a line; else "".
[[nodiscard]] std::string closeness_text(const Sureness& sure, const report::Screen& screen);

// "Sure    93% to fit; ...", one paragraph; "" where nothing is known.
[[nodiscard]] std::string sureness_text(const Sureness& sure, const report::Screen& screen);

}  // namespace fourhold::api
