// The scratch memory of the engine's kernels, as transients of its operations.
#pragma once

#include "fourhold/plan/plan.h"
#include "fourhold/plan/sharding.h"

namespace fourhold::plan {

// Adds to each operation of a sharded block, forward and backward, the bytes its kernel takes
// beside its operands, by the written rules of kernel_scratch.h, attention_scratch.h and
// ring_scratch.h for the plan's threads and instruction set. Where the plan's isa is "auto" the
// machine is not known: the most over all instruction sets. Operations without scratch get none.
void add_kernel_scratch(ShardedBlock& block, const Plan& plan);

// The same for the forward of a program that samples, whose attention reads a cache.
void add_sample_scratch(ShardedBlock& block, const Plan& plan);

}  // namespace fourhold::plan
