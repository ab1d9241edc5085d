// Which parameters decay: those that multiply, not those that shift or scale.
#pragma once

#include <cstdint>

#include "fourhold/model/parameters.h"

namespace fourhold::engine {

enum class WeightDecay : std::uint8_t { none, decayed };

// Matrices decay, embedding tables among them; norm weights, biases and sinks do not. That is the
// rule of nanoGPT and llm.c ("all 2-D parameters"), stated by role and not by rank, so that a
// matrix kept as [heads, head_dim, in] is still a matrix and a bias kept as [heads, head_dim] is
// still none.
[[nodiscard]] constexpr WeightDecay weight_decay_of(model::ParameterRole role) {
  return role == model::ParameterRole::matrix || role == model::ParameterRole::embedding
             ? WeightDecay::decayed
             : WeightDecay::none;
}

}  // namespace fourhold::engine
