// The inner loop of gradient_norm.h, for the CPU's widest vectors.
#pragma once

#include <cstddef>

#include "fourhold/engine/optimizer/gradient_norm.h"
#include "fourhold/engine/tensor/bf16.h"

namespace fourhold::engine {

// Everything but `nonfinite`; the sum is infinite or NaN exactly when a value is.
[[nodiscard]] SquaredNorm sum_squares(const float* values, std::size_t count);
[[nodiscard]] SquaredNorm sum_squares(const Bf16* values, std::size_t count);

}  // namespace fourhold::engine
