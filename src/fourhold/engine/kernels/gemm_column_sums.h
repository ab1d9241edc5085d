// Sums over rows: the gradient of a bias.
#pragma once

#include "fourhold/engine/kernels/gemm.h"
#include "fourhold/engine/kernels/isa.h"

namespace fourhold::engine {

// sums [n] = or += sum over m of rows [m, n]; both fp32 or bf16, each its own. Added in fp32, in
// blocks of 64 rows and then over the blocks, and rounded once: the same bits for every number of
// threads and every instruction set. Needs no scratch.
void column_sums(const Tensor& rows, const Tensor& sums, Destination destination, int threads,
                 Isa isa);

}  // namespace fourhold::engine
