// Errors of predicted step times by source and class, as text.
#pragma once

#include <string>
#include <vector>

#include "calibrate/timed_rows.h"

namespace fourhold::calibrate {

// One line for each source and class of more than one kind: rows, median, 90th percentile, bias and
// the median rank correlation of its sweeps.
[[nodiscard]] std::string errors_text(const std::vector<TimedRow>& rows);

}  // namespace fourhold::calibrate
