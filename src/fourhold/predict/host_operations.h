// How many calls of the framework one operation is on the host.
#pragma once

#include "fourhold/model/operations.h"
#include "fourhold/plan/program.h"

namespace fourhold::predict {

// An operation of the list is several of a framework: a linear is a product and a view, rotary
// embedding is slices, products and a concatenation. Counts are chosen so that a layer's forward
// has the 26 (GPT) and 34 (Llama) calls, 2 more under tensor parallelism and about 40 with experts,
// with which the host time per operation in data/profiles was fitted. A backward call counts 1.2.
[[nodiscard]] int host_operations(const model::Operation& operation, const plan::Step& step);

inline constexpr double kBackwardHostOperations = 1.2;

}  // namespace fourhold::predict
