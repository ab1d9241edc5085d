// The most a rank holds while a run starts, without writing its ledger out.
#pragma once

#include <cstdint>

#include "fourhold/predict/stage_model.h"

namespace fourhold::predict {

// Device bytes of start_ledger's live peak (state_ledger.h), from whole blocks: state only grows,
// so of equal layers the pieces of the last one count.
[[nodiscard]] std::int64_t start_peak_bytes(const StageModel& stage);

}  // namespace fourhold::predict
