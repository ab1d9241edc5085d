// What one step of a block asks of a device: operations of each kind, and bytes of its memory.
//
// Everything follows from the block's own operations, shapes and accesses (model/operations.h,
// plan/program.h); nothing here knows what a transformer is.
#pragma once

#include <cstdint>

#include "fourhold/model/operations.h"
#include "fourhold/plan/program.h"

namespace fourhold::predict {

struct StepWork {
  double matmul_flops = 0;           // products with a weight
  double score_flops = 0;            // batched products of unfused attention, the whole square
  double fused_attention_flops = 0;  // as a fused causal kernel does them, forward or backward
  double memory_bytes = 0;           // read and written
  double widening_bytes = 0;      // written before the product: a frozen weight in another format
  int kernels = 0;                // a kernel each, on the device
  int host_operations = 0;        // calls of the framework, on the host
  bool elementwise = false;       // neither a product nor attention
  bool layer_product = false;     // a product in the profile's format
  double quantised_elements = 0;  // of its operands, where that is another than the compute type
  double softmax_scores = 0;      // of unfused attention

  // Model FLOPs by the convention of papers: attention over the whole square, each product once
  // forward and twice backward, nothing for recomputation inside a kernel (Narayanan 2021, arXiv
  // 2104.04473, eq. 3; Chowdhery 2022, arXiv 2204.02311, appendix B).
  double model_flops = 0;
};

// Work of one step.
//   linear: 2 x rows x weight elements, forward; once more for each of the input's and the weight's
//     gradient. Members of a packed group run as one product: the input and its gradient move once.
//     A frozen weight stored in another format is first written out in the compute type, by a
//     kernel of its own.
//   attention, fused: 2 (d_qk + d_v) per query, head and visible key. Keys are visited in blocks of
//     128 (Dao 2023, arXiv 2307.08691, sec. 3.3), so (s + 128) / 2 on average, or those of the
//     window; backward has 5 products for 2.
//   attention, unfused: 2 d_qk per score, and 2 d_v per weight; twice that in backward.
//   chunked loss: three products in its forward; the logits of a chunk are written and read 4
//   times. borders: none, their traffic is a collective's. a norm written in Python
//   (NormSaving::wide): 34 bytes per element forward, 68 backward. everything else: its operands
//   once each, an accumulated one twice. Bias sums and residual
//     dropout, which work in place on a tensor their neighbour makes or reads, run inside that
//     neighbour and cost only what they bring along.
[[nodiscard]] StepWork step_work(const plan::ProgramBlock& block, const plan::Step& step,
                                 const model::BatchSizes& sizes);

// Keys a query sees on average over a sequence of `seq` tokens: exactly, and as a fused kernel
// visits them, in blocks of 128.
[[nodiscard]] double mean_visible_keys(std::int64_t seq, std::int64_t window);
[[nodiscard]] double mean_visited_keys(std::int64_t seq, std::int64_t window);

// Products of a fused attention's backward, to those of its forward.
inline constexpr double kAttentionBackwardProducts = 5.0 / 2;

}  // namespace fourhold::predict
