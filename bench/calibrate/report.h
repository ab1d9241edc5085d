// A fit as text and as a file.
#pragma once

#include <string>
#include <vector>

#include "calibrate/fit.h"

namespace fourhold::calibrate {

// Errors with the priors, fitted, and of rows whose model was left out; then the constants.
[[nodiscard]] std::string report_text(const std::vector<Constant>& constants,
                                      const std::vector<TimedRow>& priors, const Fit& fit,
                                      const CrossValidation& validation);

// JSON: each constant with its value, the range over the folds and the rows of each source that it
// moves; the figures of each source, fitted and left out.
[[nodiscard]] std::string report_json(const std::vector<Constant>& constants, const Fit& fit,
                                      const CrossValidation& validation);

}  // namespace fourhold::calibrate
