// Plans and profiles of the tests.
#pragma once

#include <string_view>
#include <vector>

#include "fourhold/plan/plan.h"

namespace fourhold::interpreter {

// A profile that can express every split; its switches are the defaults of the struct.
[[nodiscard]] plan::Profile any_profile();
// Every way of feeding adapters, of holding what they stand beside and of holding logits in chunks.
[[nodiscard]] std::vector<plan::Profile> adapter_profiles();

// Fills in what follows from the rest: dp from the batch, the layout of layers, the schedule.
// `plan` states degrees, micro_batch and grad_accum; global_batch is 4 unless stated otherwise.
[[nodiscard]] plan::Plan finished(plan::Plan plan, const model::ModelConfig& config);

// One rank, the whole batch in one micro-batch.
[[nodiscard]] plan::Plan one_rank(const model::ModelConfig& config);

}  // namespace fourhold::interpreter
