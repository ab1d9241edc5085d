// What sources of the Megatron family do otherwise than their profile.
#pragma once

#include "fourhold/measured/measured_row.h"
#include "fourhold/measured/row_draft.h"

namespace fourhold::measured {

void refine_megatron_core(const MeasuredRow& row, RowDraft& draft);
void refine_megatron_2021(const MeasuredRow& row, RowDraft& draft);
void refine_megatron_deepspeed(const MeasuredRow& row, RowDraft& draft);
void refine_simumax(const MeasuredRow& row, RowDraft& draft);
void refine_nvidia(const MeasuredRow& row, RowDraft& draft);
void refine_aleph_alpha(const MeasuredRow& row, RowDraft& draft);

}  // namespace fourhold::measured
