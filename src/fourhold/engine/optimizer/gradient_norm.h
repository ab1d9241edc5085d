// The global norm of the gradients, and with it the first of the two finite checks of a step.
#pragma once

#include <cstdint>

#include "fourhold/engine/tensor/tensor.h"

namespace fourhold::engine {

// The sum of squares as `sum + error`, about 106 bits: squares are exact in double and the rounding
// error of every addition is kept (two-sum, D. Knuth, TAOCP vol. 2, 4.2.2, theorem B), so the sum
// rounded to double does not depend on threads, vector length or the cut into shards, but for the
// odd last bit once in about 2^40 sums.
struct SquaredNorm {
  double sum = 0;
  double error = 0;
  float largest = 0;           // magnitude of any finite gradient
  std::int64_t nonfinite = 0;  // gradients that are infinite or NaN; then the sum means nothing

  SquaredNorm& operator+=(const SquaredNorm& other);
  [[nodiscard]] double value() const { return sum + error; }
};

// Of one gradient, fp32 or bf16. The same bits for any number of threads.
[[nodiscard]] SquaredNorm squared_norm(const Tensor& gradient, int threads);

// min(1, max_norm / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_; 1 when max_norm is 0: no
// clipping. `squared` is the sum over all parameters and ranks, finite.
[[nodiscard]] double clip_coefficient(double squared, double max_norm);

}  // namespace fourhold::engine
