// The sum of squares of a gradient, in fp64.
#pragma once

#include "fourhold/engine/kernels/execution.h"
#include "fourhold/engine/tensor/tensor.h"

namespace fourhold::engine {

// Sum of x^2 over all elements of an fp32 or bf16 tensor. Squares are made and summed in fp64, in
// an order that the number of elements alone fixes. Not finite where an element is not.
[[nodiscard]] double squared_norm(const Tensor& x, const Execution& execution);

}  // namespace fourhold::engine
