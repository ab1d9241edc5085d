// How fast this machine runs the engine's kernels, on shapes that transformers have.
#pragma once

#include <cstdint>

#include "fourhold/base/dtype.h"
#include "fourhold/engine/kernels/execution.h"
#include "fourhold/engine/measure/timing.h"
#include "fourhold/engine/measure/workspace.h"

namespace fourhold::engine {

// What a measurement takes beside its results: no more than a run keeps outside its arena.
inline constexpr std::int64_t kWorkspaceBytes = std::int64_t{160} << 20;

// What is measured, with what.
struct Trial {
  DType compute = DType::bf16;  // or fp32
  Execution execution;
  Effort effort = Effort::quick;
  Workspace& workspace;
  std::int64_t tokens = 0;  // of one batch; trial_of chooses it
};

// With as many tokens, up to 1024, as the effort allows at the speed of a first product.
[[nodiscard]] Trial trial_of(DType compute, const Execution& execution, Effort effort,
                             Workspace& workspace);

// Operations and bytes are counted as predict/step_work.h and predict/state_traffic.h count them.
struct ProductRates {
  double best_flops_per_second = 0;  // of the fastest product
  // Of one layer's products, forward and backward, and the bytes of their operands per FLOP: of a
  // wide layer and of a narrow one.
  double flops_per_second = 0;
  double bytes_per_flop = 0;
  double narrow_flops_per_second = 0;
  double narrow_bytes_per_flop = 0;
};
[[nodiscard]] ProductRates product_rates(const Trial& trial);

struct AttentionRates {
  double forward_flops_per_second = 0;
  double backward_flops_per_second = 0;
};
[[nodiscard]] AttentionRates attention_rates(const Trial& trial);

// Norms, activations and sums of one layer, forward and backward.
[[nodiscard]] double elementwise_bytes_per_second(const Trial& trial);

// AdamW, with a master copy where `compute` has 16 bits.
[[nodiscard]] double update_bytes_per_second(const Trial& trial);

// A sum of two streams into a third, beyond the caches.
[[nodiscard]] double memory_bytes_per_second(const Execution& execution, Effort effort,
                                             Workspace& workspace);

// A kernel with nothing to do: what starting and joining its threads costs.
[[nodiscard]] double kernel_start_seconds(const Execution& execution, Effort effort);

}  // namespace fourhold::engine
