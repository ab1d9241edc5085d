// Figures of a row that cannot all be true: no run has them, so none is predicted.
#pragma once

#include "fourhold/measured/measured_row.h"
#include "fourhold/measured/row_draft.h"

namespace fourhold::measured {

// Finds what a row says against its device or itself: more memory than the device has, degrees that
// are not its devices, tokens per second that are not its step time, the speed of a run that ran
// out of memory. For a draft whose device, sequence and batch have been read where they are there.
void check_figures(const MeasuredRow& row, RowDraft& draft);

}  // namespace fourhold::measured
