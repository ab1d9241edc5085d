// Rows of llmq: its command line is in their columns and notes.
#pragma once

#include <string_view>

#include "fourhold/measured/measured_row.h"
#include "fourhold/measured/row_draft.h"

namespace fourhold::measured {

// Recomputation, offload, sharding and chunks of the loss, by the flags that its README.md
// describes (IST-DASLab/llmq). A flag that no plan says is taken as the nearest, which holds no
// less on the device, and is stated.
void refine_llmq(const MeasuredRow& row, RowDraft& draft);

// Whether a word, in lower case and without dashes before it, is one of those flags.
[[nodiscard]] bool is_llmq_flag(std::string_view word);

}  // namespace fourhold::measured
