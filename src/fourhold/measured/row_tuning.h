// What of a model a row trains.
#pragma once

#include <cstdint>
#include <string_view>

#include "fourhold/measured/measured_row.h"
#include "fourhold/measured/row_draft.h"

namespace fourhold::measured {

// All weights, LoRA or QLoRA, by `peft` and `precision`. Other methods that train little beside
// frozen weights are taken as LoRA of their rank, which is assumed.
void read_tuning(const MeasuredRow& row, RowDraft& draft);

// What a source's script adapts, at which rank and dropout, where the row does not say.
struct ScriptAdapters {
  std::string_view targets;  // as plan::lora_targets_from_string reads them
  std::int64_t rank = 0;
  double dropout = 0;
};
// Only for rows that train adapters.
void assume_script(const ScriptAdapters& script, const MeasuredRow& row, RowDraft& draft);

}  // namespace fourhold::measured
