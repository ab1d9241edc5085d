// Constants that fit measured step times, by Gauss and Newton's method.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calibrate/constants.h"
#include "calibrate/timed_rows.h"

namespace fourhold::calibrate {

// Least is: sum over rows of w rho(z^2), z = log(predicted / measured) / kErrorScale, rho soft-L1
// (2 (sqrt(1 + z^2) - 1)), plus sum over constants of (log(value / prior) / sigma)^2. A source of
// many rows weighs as kSourceRows of them.
inline constexpr double kErrorScale = 0.08;
inline constexpr double kSourceRows = 40;

// Predicts all rows under these values.
using Predict = std::function<std::vector<TimedRow>(const std::vector<double>&)>;

struct Fit {
  std::vector<double> values;
  std::vector<TimedRow> rows;  // predicted under them
  double cost = 0;
  // d log(predicted) / d log(value), by row.
  std::vector<std::vector<double>> slopes;
};

[[nodiscard]] Fit fit(const std::vector<Constant>& constants, const Predict& predict);

// The fit without the rows of one model, by the slopes of the whole fit, and what it predicts for
// them.
struct Fold {
  std::string model;
  std::vector<double> values;
};
struct CrossValidation {
  std::vector<Fold> folds;
  std::vector<TimedRow> left_out;  // every row, predicted by the fit that has not seen its model
};
[[nodiscard]] CrossValidation cross_validate(const std::vector<Constant>& constants,
                                             const Fit& whole, const Predict& predict);

}  // namespace fourhold::calibrate
