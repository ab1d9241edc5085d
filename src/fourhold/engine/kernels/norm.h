// Layer norm and RMS norm of rows, forward and backward.
//
// A row is what one statistic is for: all of a token, or one head of it. x, y and gradients of x
// are [rows, width] in one type, parameters and their gradients [width] in types of their own.
// statistics: fp32 [rows, 2] mean and 1 / sqrt(variance + epsilon) for layer norm, [rows, 1]
// 1 / sqrt(mean square + epsilon) for RMS norm; variances are of the population.
#pragma once

#include "fourhold/engine/kernels/destination.h"
#include "fourhold/engine/kernels/execution.h"
#include "fourhold/engine/tensor/tensor.h"
#include "fourhold/model/model_config.h"

namespace fourhold::engine {

// y = (x - mean) rstd weight + bias. A tensor without data stands for a parameter that is not
// there: weight 1, bias 0. y may be x.
struct NormForward {
  model::NormKind kind = model::NormKind::rms_norm;
  float epsilon = 1e-5F;
  Tensor x;
  Tensor weight;
  Tensor bias;
  Tensor y;
  Tensor statistics;
};
void norm(const NormForward& call, const Execution& execution);

// What backward reads and makes. dx may be dy. Parameters' gradients are added to; one without data
// is not wanted.
struct NormBackward {
  model::NormKind kind = model::NormKind::rms_norm;
  Tensor x;
  Tensor statistics;
  Tensor weight;
  Tensor dy;
  Tensor dx;
  Destination dx_destination = Destination::overwrite;
  Tensor dweight;
  Tensor dbias;
};
void norm_backward(const NormBackward& call, const Execution& execution);

}  // namespace fourhold::engine
