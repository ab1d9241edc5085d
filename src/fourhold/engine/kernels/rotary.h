// Rotary position embedding (Su 2021, arXiv 2104.09864): every pair of columns of a head turns by
// an angle that grows with the position.
#pragma once

#include <cstdint>

#include "fourhold/engine/kernels/execution.h"
#include "fourhold/engine/kernels/positions.h"
#include "fourhold/engine/tensor/tensor.h"

namespace fourhold::engine {

// How published configurations stretch the angles for longer sequences (`rope_scaling.rope_type`).
enum class RotaryScaling : std::uint8_t {
  none,    // "default"
  linear,  // all angles divided by `factor`
  llama3,  // slow pairs divided by `factor`, fast ones kept, a ramp between (Llama 3.1)
};

struct Rotary {
  std::int64_t head_dim = 0;  // columns of a head
  std::int64_t first = 0;     // column where the turned part of a head begins
  std::int64_t turned = 0;    // columns that are turned, even: pairs (i, i + turned / 2)
  double base = 10000;        // rope_theta
  RotaryScaling scaling = RotaryScaling::none;
  double factor = 1;
  double low_frequency_factor = 1;    // llama3
  double high_frequency_factor = 4;   // llama3
  double original_max_positions = 0;  // llama3

  // Radians a position turns pair i by: base^(-2 i / turned), scaled. Llama 3.1 by wavelength
  // w = 2 pi / angle, of L original positions: kept where w < L / high, divided by `factor` where
  // w > L / low, and (1 - r) angle / factor + r angle with r = (L / w - low) / (high - low) between
  // (Hugging Face transformers, modeling_rope_utils.py, _compute_llama3_parameters).
  [[nodiscard]] double angle_of(std::int64_t pair) const;
};

// The widest head that kernels turn; the plan's reader refuses wider ones.
inline constexpr std::int64_t kMostTurnedColumns = 512;

// x [rows, heads, head_dim] in place, fp32 or bf16. Angles are fp64; sines and cosines are rounded
// to fp32 once.
void rotate(const Rotary& rotary, const Tensor& x, const Positions& positions,
            const Execution& execution);
// The gradient, in place: turned back.
void rotate_back(const Rotary& rotary, const Tensor& dx, const Positions& positions,
                 const Execution& execution);

}  // namespace fourhold::engine
