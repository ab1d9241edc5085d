// What of a model a row trains.
#pragma once

#include "fourhold/measured/measured_row.h"
#include "fourhold/measured/row_draft.h"

namespace fourhold::measured {

// All weights, LoRA or QLoRA, by `peft` and `precision`. Other methods that train little beside
// frozen weights are taken as LoRA of their rank, which is assumed.
void read_tuning(const MeasuredRow& row, RowDraft& draft);

}  // namespace fourhold::measured
