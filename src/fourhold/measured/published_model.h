// Sizes that a row leaves blank although they are public: data/measured/tables/models.csv.
#pragma once

#include <string_view>

#include "fourhold/measured/findings.h"
#include "fourhold/measured/measured_row.h"

namespace fourhold::measured {

// data/measured/tables/models.csv; a generated source defines it.
[[nodiscard]] std::string_view published_models_text();

// Fills sizes of the model, and how its source runs it (sequence, micro-batch, tp, recompute),
// where they are blank and the file names the row's model; what was filled is assumed.
void fill_published_sizes(MeasuredRow& row, Findings& findings);

}  // namespace fourhold::measured
