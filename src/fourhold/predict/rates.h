// How fast a device works under a framework: what its peaks, shares and kernels come to.
#pragma once

#include "fourhold/hardware/device.h"
#include "fourhold/plan/profile.h"
#include "fourhold/predict/step_work.h"

namespace fourhold::predict {

struct Rates {
  double peak_flops_per_second = 0;  // dense, of the compute type: the base of MFU
  double matmul_flops_per_second = 0;
  double layer_flops_per_second = 0;       // products of layers in a format of their own, or 0
  double quantised_bytes_per_element = 0;  // moved for each of their operands' elements
  double split_softmax_bytes = 0;          // more than a fused softmax moves per score, forward
  // Of narrow products, and the operands' bytes per FLOP between which rates are interpolated; 0:
  // as large ones.
  double narrow_flops_per_second = 0;
  double matmul_bytes_per_flop = 0;
  double narrow_bytes_per_flop = 0;
  double score_flops_per_second = 0;  // batched products of unfused attention
  double attention_flops_per_second = 0;
  double attention_backward_flops_per_second = 0;
  double memory_bytes_per_second = 0;       // while products are computed
  double elementwise_bytes_per_second = 0;  // of operands' bytes, by kernels that are no products
  double update_bytes_per_second = 0;       // of weights, gradients and moments, by the optimizer
  double kernel_start_seconds = 0;
  double host_seconds_per_operation = 0;
};

// Rates for products of type `compute`. 16-bit types stand for each other: a device without bf16
// trains in fp16. Throws Error where the device has no rate for such products, or none at all
// (--memory alone).
[[nodiscard]] Rates rates_of(const hardware::Device& device, const plan::Profile& profile,
                             DType compute);

// The roofline (Williams, Waterman and Patterson 2009): the slower of arithmetic and memory, and
// the start of each kernel.
[[nodiscard]] double step_seconds(const StepWork& work, plan::Phase phase, const Rates& rates);

}  // namespace fourhold::predict
