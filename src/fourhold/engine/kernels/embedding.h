// Rows of the token and position tables, forward and backward.
//
// Rows of activations [tokens, width] and of tables [entries, width]; activations, tables and
// gradients are fp32 or bf16, each with a type of its own.
#pragma once

#include <cstdint>

#include "fourhold/engine/kernels/execution.h"
#include "fourhold/engine/kernels/positions.h"
#include "fourhold/engine/tensor/tensor.h"

namespace fourhold::engine {

// out[t] = table[ids[t] - first_id]; zero where the table, one rank's part of the vocabulary, does
// not hold that row. ids: int32 [tokens].
void embedding_lookup(const Tensor& ids, const Tensor& table, std::int64_t first_id,
                      const Tensor& out, const Execution& execution);

// dtable[id - first_id] += the sum of dy[t] over the tokens with that id, in the order of tokens:
// summed in fp32 and rounded once for every kScatterBlock tokens of a call.
inline constexpr std::int64_t kScatterBlock = 8192;
void embedding_lookup_backward(const Tensor& ids, const Tensor& dy, std::int64_t first_id,
                               const Tensor& dtable, const Execution& execution);

// x[t] += table[position of t + first_row], in place.
void add_positions(const Tensor& x, const Positions& positions, const Tensor& table,
                   std::int64_t first_row, const Execution& execution);

// dtable[position + first_row] += the sum of dy over the sequences, rounded once.
void add_positions_backward(const Tensor& dy, const Positions& positions, const Tensor& dtable,
                            std::int64_t first_row, const Execution& execution);

}  // namespace fourhold::engine
