// The plan of a row, from its columns.
#pragma once

#include <cstdint>

#include "fourhold/measured/framework_rule.h"
#include "fourhold/measured/measured_row.h"
#include "fourhold/measured/row_draft.h"

namespace fourhold::measured {

// Degrees, batch, sequence, ZeRO stage, recomputation, precision, optimizer, offload and tuning.
void read_plan(const MeasuredRow& row, const FrameworkRule& rule, RowDraft& draft);

// What ZeRO shards lies once on every `ranks` ranks of dp x cp; on all of them where they are no
// more, and, as an assumption, where they do not divide.
void shard_over(std::int64_t ranks, RowDraft& draft);

}  // namespace fourhold::measured
