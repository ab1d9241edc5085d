// Activations of feed-forwards, alone and gating, forward and backward from the inputs alone.
//
// Tensors of one call hold fp32 or bf16, all the same, and have the same number of elements.
#pragma once

#include <cstdint>

#include "fourhold/engine/kernels/execution.h"
#include "fourhold/engine/tensor/tensor.h"

namespace fourhold::engine {

// gelu: x P(X <= x) of the normal distribution (Hendrycks 2016, arXiv 1606.08415). gelu_tanh: its
// approximation there, x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, which GPT-2 uses.
// silu: x / (1 + e^-x).
enum class Activation : std::uint8_t { gelu, gelu_tanh, relu, silu };

// y = act(x); dx = dy act'(x). y may be x, and dx may be dy.
void activate(Activation activation, const Tensor& x, const Tensor& y, const Execution& execution);
void activate_backward(Activation activation, const Tensor& x, const Tensor& dy, const Tensor& dx,
                       const Execution& execution);

// y = act(gate) up. y may be either.
void gated_activate(Activation activation, const Tensor& gate, const Tensor& up, const Tensor& y,
                    const Execution& execution);
// dgate = dy up act'(gate), dup = dy act(gate). One of them may be dy.
struct GatedGradients {
  Tensor dgate;
  Tensor dup;
};
void gated_activate_backward(Activation activation, const Tensor& gate, const Tensor& up,
                             const Tensor& dy, const GatedGradients& gradients,
                             const Execution& execution);

}  // namespace fourhold::engine
