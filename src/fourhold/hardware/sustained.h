// What a device sustains of its peaks over a whole training step: rooflines are drawn with these.
#pragma once

namespace fourhold::hardware {

// Shares of the dense 16-bit peak, by kernel; 0 = not known on this device. `unfused` are the
// batched products of attention with score tensors; the others are fused kernels, forward, counted
// with the causal half only.
struct AttentionShares {
  double unfused = 0.55;
  double flash_1 = 0;  // Dao 2022, arXiv 2205.14135
  double triton = 0;   // the Triton version of it
  double flash_2 = 0;  // Dao 2023, arXiv 2307.08691
  double flash_3 = 0;  // Shah 2024, arXiv 2407.08608, and cuDNN of that age
  // Rate of a fused backward to its forward's (Dao 2023, arXiv 2307.08691, figures 5 and 6).
  double backward = 0.85;
  friend bool operator==(const AttentionShares&, const AttentionShares&) = default;
};

// The defaults are what a device file that says nothing gets: middling, and to be measured.
struct SustainedShares {
  double matmul = 0.65;  // of the dense peak of the type, by large matrix products
  // The same by narrow ones, whose operands a processor packs as long as it multiplies; 0 = as
  // large ones. Between the two, seconds per FLOP grow with the operands' bytes per FLOP.
  double narrow_matmul = 0;
  double matmul_bytes_per_flop = 0;
  double narrow_bytes_per_flop = 0;
  // Of `matmul`, by products of 8-bit and 4-bit operands, each of its own type's peak.
  double low_precision = 0.9;
  double memory = 0.9;  // of the memory bandwidth
  // Of the memory bandwidth by kernels that are no products, and by the update of weights and
  // moments; 0 = as `memory`. Above 1 where caches serve them.
  double elementwise = 0;
  double update = 0;
  AttentionShares attention{.flash_2 = 0.4};
  double kernel_start_seconds = 2.4e-6;  // start and drain of one kernel
  friend bool operator==(const SustainedShares&, const SustainedShares&) = default;
};

}  // namespace fourhold::hardware
