// A row's prediction beside its measurement.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/confidence/metric.h"
#include "fourhold/confidence/residual_mixture.h"
#include "fourhold/measured/catalogue.h"
#include "fourhold/measured/exclusions.h"
#include "fourhold/measured/measured_row.h"

namespace fourhold::measured {

using confidence::kMetricNames;
using confidence::Metric;

struct Comparison {
  Metric metric = Metric::step_time;
  double predicted = 0;  // GiB or seconds
  double measured = 0;
  std::string set_apart;  // why it is not in the statistics, or ""
  // What other models' runs make of the prediction; absent where none measured the metric.
  std::optional<confidence::Interval> interval{};
  [[nodiscard]] double error_percent() const { return (predicted / measured - 1) * 100; }
  // Whether the interval holds the measurement; false without one.
  [[nodiscard]] bool is_covered() const {
    return interval && interval->low <= measured && measured <= interval->high;
  }
};

struct RowResult {
  std::string id;
  std::string source;  // the family of the id
  std::string sweep;   // model, device, count and sequence
  std::string model;
  std::string profile;  // the rest is empty where nothing is predicted
  std::string device;
  std::string generation;  // of the device
  bool has_experts = false;
  bool stalls = false;   // a stall of its framework bounds its layers (ProfileTime)
  double sequences = 0;  // per step
  std::vector<Comparison> comparisons;
  double needed_gib = 0;  // the least with which it runs, and what its device has
  double usable_gib = 0;
  std::optional<bool> predicted_fit;
  std::optional<double> fit_probability;  // by other models' runs
  std::optional<bool> measured_fit;
  std::string fit_set_apart;
  std::string skipped;  // why nothing is predicted, or ""
  std::vector<std::string> assumed;
};

// Never throws for what a row says.
[[nodiscard]] RowResult compare_row(const MeasuredRow& row, const Exclusions& exclusions,
                                    Catalogue& catalogue, double margin);

}  // namespace fourhold::measured
