// The devices of a row, and the network between its nodes.
#pragma once

#include "fourhold/measured/measured_row.h"
#include "fourhold/measured/row_draft.h"

namespace fourhold::measured {

// The device by its spelling; the network where the source or the row states another than the
// device's file assumes.
void read_cluster(const MeasuredRow& row, RowDraft& draft);

}  // namespace fourhold::measured
