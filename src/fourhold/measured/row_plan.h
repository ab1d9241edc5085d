// The plan of a row, from its columns.
#pragma once

#include "fourhold/measured/framework_rule.h"
#include "fourhold/measured/measured_row.h"
#include "fourhold/measured/row_draft.h"

namespace fourhold::measured {

// Degrees, batch, sequence, ZeRO stage, recomputation, precision, optimizer, offload and tuning.
void read_plan(const MeasuredRow& row, const FrameworkRule& rule, RowDraft& draft);

}  // namespace fourhold::measured
