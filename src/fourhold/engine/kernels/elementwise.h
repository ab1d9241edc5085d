// Sums, products and copies of whole tensors, element by element.
//
// Tensors hold fp32 or bf16, all of one call the same unless said otherwise, and have the same
// number of elements. An output may be one of the inputs.
#pragma once

#include "fourhold/engine/kernels/execution.h"
#include "fourhold/engine/tensor/tensor.h"

namespace fourhold::engine {

// sum = a + b: the residual stream.
void add(const Tensor& a, const Tensor& b, const Tensor& sum, const Execution& execution);

// to = from, between any two of the types.
void cast(const Tensor& from, const Tensor& to, const Execution& execution);

// to += from, in any two of the types.
void accumulate(const Tensor& from, const Tensor& to, const Execution& execution);

// Any type; every bit becomes 0.
void fill_zero(const Tensor& tensor, const Execution& execution);

// x[r, i] += bias[i], in place; the bias has a type of its own.
void add_bias(const Tensor& x, const Tensor& bias, const Execution& execution);
// dbias[i] += sum over r of dy[r, i]; dbias has a type of its own.
void add_bias_backward(const Tensor& dy, const Tensor& dbias, const Execution& execution);

}  // namespace fourhold::engine
