// The single changes that may cure a failure, cheapest first, each tried by predicting again.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/predict/verdict.h"

namespace fourhold::predict {

// The memory whose bytes the changes are to save.
enum class ShortOf : std::uint8_t { device, host };

// Only changes that save bytes of the memory that is short are returned; of one kind (ZeRO stages,
// micro-batches, tensor degrees) the smallest change that cures, or the largest one where none
// does. A change that ends a state failure but not the activation failure behind it cures when a
// second change on the same devices (smaller micro-batch, recomputation, chunked loss) does the
// rest: `then_change` names it.
[[nodiscard]] std::vector<Answer> find_answers(const model::ModelConfig& config,
                                               const plan::Plan& plan, const plan::Profile& profile,
                                               const MemoryPrediction& memory,
                                               const Capacity& capacity, VerdictClass failure,
                                               ShortOf short_of);

}  // namespace fourhold::predict
