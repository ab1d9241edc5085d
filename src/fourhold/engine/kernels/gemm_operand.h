// The two operands of a product as packing sees them, and the block of one that is packed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fourhold/engine/kernels/gemm.h"

namespace fourhold::engine {

// Which index of an operand has stride 1: depth (the index summed over), or the outer one (rows of
// the left operand, columns of the right one).
enum class Contiguous : std::uint8_t { depth, outer };

struct GemmOperand {
  const std::byte* data = nullptr;
  DType dtype = DType::bf16;
  Contiguous contiguous = Contiguous::depth;
  std::int64_t stride = 0;  // elements between neighbours along the other index

  template <typename T>
  [[nodiscard]] const T* at(std::int64_t outer, std::int64_t depth) const {
    return reinterpret_cast<const T*>(data) +
           (contiguous == Contiguous::depth ? outer * stride + depth : depth * stride + outer);
  }
};

struct PackBlock {
  std::int64_t outer_begin = 0;
  std::int64_t outer_end = 0;
  std::int64_t depth_begin = 0;
  std::int64_t depth_end = 0;
  [[nodiscard]] std::int64_t outer() const { return outer_end - outer_begin; }
  [[nodiscard]] std::int64_t depth() const { return depth_end - depth_begin; }
};

[[nodiscard]] inline GemmOperand left_operand(const GemmProblem& problem, const Tensor& tensor) {
  if (problem.form == GemmForm::forward) {
    return {tensor.data, problem.operands, Contiguous::depth, problem.sizes.k};
  }
  const bool transposed = problem.form == GemmForm::backward_weight;
  return {tensor.data, problem.operands, transposed ? Contiguous::outer : Contiguous::depth,
          problem.sizes.n};
}
[[nodiscard]] inline GemmOperand right_operand(const GemmProblem& problem, const Tensor& tensor) {
  const bool forward = problem.form == GemmForm::forward;
  return {tensor.data, problem.operands, forward ? Contiguous::depth : Contiguous::outer,
          problem.sizes.k};
}

}  // namespace fourhold::engine
