// Matrix multiplication as a linear layer needs it, forward and backward.
//
// Sums are fp32 whatever the operands; a bf16 result is rounded once, to nearest even, from the
// complete sum (bias, residual and what the destination held included). Results do not depend on
// the number of threads and are the same bits in every run of one kernel; kernels differ in the
// order of their sums. The kernels for bf16 instructions (VDPBF16PS, TDPBF16PS) take denormal
// products and sums for zero, because the hardware does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "fourhold/base/dtype.h"
#include "fourhold/engine/kernels/destination.h"
#include "fourhold/engine/tensor/tensor.h"
#include "fourhold/plan/kernel_scratch.h"

namespace fourhold::engine {

using plan::GemmForm;
using plan::GemmSizes;

// What is computed, without the data. Operands and results are fp32 or bf16.
struct GemmProblem {
  GemmForm form = GemmForm::forward;
  GemmSizes sizes;               // all positive
  DType operands = DType::bf16;  // of both
  DType output = DType::bf16;
  Destination destination = Destination::overwrite;
  std::optional<DType> bias = {};      // forward: + bias [n] on every row
  std::optional<DType> residual = {};  // forward: + residual [m, n]; may be the output itself
  int threads = 1;

  [[nodiscard]] double flops() const {
    return 2 * static_cast<double>(sizes.m) * static_cast<double>(sizes.n) *
           static_cast<double>(sizes.k);
  }
  // Bytes of scratch the ledger holds for one call.
  [[nodiscard]] std::int64_t scratch_bytes(plan::Isa isa) const {
    return plan::gemm_scratch_bytes(form, sizes, operands, threads, isa);
  }
  friend bool operator==(const GemmProblem&, const GemmProblem&) = default;
};

// left and right: x and w (forward), dy and w (backward_data), dy and x (backward_weight); output:
// y [m, n], dx [m, k], dw [n, k]. Weights are [n, k]. Absent epilogues have null tensors.
struct GemmOperands {
  Tensor left;
  Tensor right;
  Tensor output;
  Tensor bias = {};
  Tensor residual = {};
};

// A problem prepared once and run many times. Running allocates nothing; `scratch` is 64-byte
// aligned and has exactly the problem's scratch_bytes.
class Gemm {
 public:
  Gemm() = default;
  Gemm(const Gemm&) = delete;
  Gemm& operator=(const Gemm&) = delete;
  virtual ~Gemm() = default;
  virtual void run(const GemmOperands& operands, std::span<std::byte> scratch) const = 0;
};

}  // namespace fourhold::engine
