// What several readers of a program ask about the gradient of one parameter.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fourhold/plan/program.h"

namespace fourhold::plan {

// Whether forward steps add to the parameter's gradient, as those of a chunked loss do: it is then
// alive before the block's backward, and what micro-batches have added waits for all of theirs.
[[nodiscard]] bool written_in_forward(const ProgramBlock& block, std::size_t parameter);

// kv heads of the whole parameter, by which ranks that hold the same one are found
// (Axis::kv_replicas); 1 of a parameter without any.
[[nodiscard]] std::int64_t kv_heads_of(const LocalParameter& parameter);

}  // namespace fourhold::plan
