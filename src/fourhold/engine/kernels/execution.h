// How a kernel runs: on how many threads, with which instructions.
//
// What all kernels keep: none allocates, throws or keeps a state; arithmetic is fp32 whatever the
// tensors hold (sums over many rows fp64 above blocks of rows), and a result is rounded once;
// results depend on `isa` and not on `threads`, and are the same bits in every run.
#pragma once

#include "fourhold/engine/kernels/isa.h"

namespace fourhold::engine {

// The processor must have the instructions: whoever reads the plan checks that.
struct Execution {
  int threads = 1;
  Isa isa = Isa::portable;
};

}  // namespace fourhold::engine
