// What holds the whole process to an instruction set.
#pragma once

#include "fourhold/engine/kernels/isa.h"

namespace fourhold::engine {

// Kernels that are given no Isa, because they make the same bits with every one (updates, norms,
// random numbers, sums of ranks), choose for themselves by what the CPU has: from here on by what
// `isa` has. To be called before other threads run kernels; the best Isa lifts it again.
void limit_process_to(Isa isa);

}  // namespace fourhold::engine
