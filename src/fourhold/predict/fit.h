// One device, no search: what serving holds, what training holds, and the largest run that fits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fourhold/predict/verdict.h"

namespace fourhold::predict {

// Bytes of state on one device, by purpose.
struct StateBytes {
  double bytes_per_parameter = 0;
  Bytes weight, gradient, master_weight, optimizer_state;
  Bytes step_temporary;  // beside it while the optimizer runs, where the profile says so
  [[nodiscard]] Bytes total() const { return weight + gradient + master_weight + optimizer_state; }
  [[nodiscard]] Bytes at_step() const { return total() + step_temporary; }
};

// Activations of one micro-batch: everything at the peak that is not state or a fixed buffer.
struct ActivationBytes {
  Bytes total;
  Bytes per_layer;  // kept from forward to backward by one layer (the largest kind)
  Bytes logits;     // all tensors as wide as the vocabulary, at the loss
};

// The largest micro-batch at the asked sequence and the longest sequence at the asked micro-batch
// that fit, a legal one for the plan's splits; 0 where not even one does.
struct Largest {
  std::string recompute;
  std::int64_t micro_batch = 0;
  std::int64_t seq = 0;
};

// State of a plan's worst stage from its ledger. `parameters`: of the
// model and of its layers of multi-token prediction.
[[nodiscard]] StateBytes state_bytes(const MemoryPrediction& memory, std::int64_t parameters);
[[nodiscard]] ActivationBytes activation_bytes(const MemoryPrediction& memory);
// For each kind of recomputation that the profile has, and the plan's own.
[[nodiscard]] std::vector<Largest> largest_that_fit(const model::ModelConfig& config,
                                                    const plan::Plan& plan,
                                                    const plan::Profile& profile,
                                                    const Capacity& capacity);

// What one replica of a server holds: the weights in the compute type.
[[nodiscard]] Bytes serving_bytes(std::int64_t parameters, const plan::Recipe& recipe);

// State alone, from a parameter count without a model: per device under ZeRO stage `zero` over
// `devices`. `optimizer_temporary` is the profile's: fp32 elements per updated parameter.
[[nodiscard]] StateBytes state_of_count(std::int64_t parameters, const plan::Recipe& recipe,
                                        double optimizer_temporary, int zero, std::int64_t devices);

}  // namespace fourhold::predict
