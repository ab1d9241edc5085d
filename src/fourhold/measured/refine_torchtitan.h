// What torchtitan did at the commit a row names, beside its profile (data/profiles/fsdp2.json).
#pragma once

#include "fourhold/measured/measured_row.h"
#include "fourhold/measured/row_draft.h"

namespace fourhold::measured {

void refine_torchtitan(const MeasuredRow& row, RowDraft& draft);

}  // namespace fourhold::measured
