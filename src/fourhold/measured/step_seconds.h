// The seconds of a step that a row states, in whatever words.
#pragma once

#include <optional>

#include "fourhold/measured/measured_row.h"
#include "fourhold/measured/row_setup.h"

namespace fourhold::measured {

// step_time_s where it is there, else tokens_per_s_per_gpu over the batch, else FLOP rates by the
// convention of the row's source (data/measured/SOURCES.md). Nothing where none is published.
[[nodiscard]] std::optional<double> measured_step_seconds(const MeasuredRow& row,
                                                          const RowSetup& setup);

}  // namespace fourhold::measured
