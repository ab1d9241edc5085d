// One optimizer step on one shard of one parameter, in one pass over memory.
//
// Every element is computed alone, in fp32, by the same operations on every CPU: the result is bit
// for bit the same for every split into shards and every number of threads.
#pragma once

#include <cstdint>
#include <string_view>

#include "fourhold/engine/optimizer/hyperparameters.h"
#include "fourhold/engine/tensor/tensor.h"
#include "fourhold/plan/parameter_part.h"
#include "fourhold/plan/recipe.h"

namespace fourhold::engine {

// Elements of the parameter `name`: those of `part`. All tensors have that many, or more: what
// stands behind them is padding and left as it is. One that the precision or optimizer does not
// keep has no data.
//
//              weight   master
//   fp32       fp32     -
//   bf16       bf16     fp32: the weight is the master rounded, ties away from zero
//   bf16-split bf16     int16: the master's lower half (split_float.h); same numbers as bf16
//   bf16-kahan bf16     int16: bits of a bf16, what is still to be added to the weight
//   bf16-sr    bf16     -     rounded up with the probability that makes the mean right
//   bf16-pure  bf16     -     rounded to nearest, ties to even: small updates are lost
//
// The gradient is fp32 or bf16 (fp32 with fp32 weights), the moments are fp32.
struct ParameterShard {
  std::string_view name;     // the stream of stochastic rounding
  plan::ParameterPart part;  // the elements' places in the parameter, and in that stream
  Tensor weight;
  Tensor gradient;
  Tensor master;
  Tensor moment1;  // exponential average of gradients; lion and sgd: the momentum
  Tensor moment2;  // adamw: exponential average of squared gradients
};

// What one step did to elements. The authoritative copy is the fp32 master, the pair of weight and
// master (split, kahan), or the weight itself.
struct UpdateReport {
  std::int64_t elements = 0;
  std::int64_t nonzero = 0;  // updates that were not zero
  std::int64_t lost = 0;     // non-zero updates that changed nothing in the authoritative copy
  std::int64_t nonfinite =
      0;                     // elements whose weight, master or moment is, or would be, not finite
  float largest_weight = 0;  // magnitudes after the step; see overflow.h
  float largest_moment1 = 0;

  UpdateReport& operator+=(const UpdateReport& other);
};

enum class Pass : std::uint8_t {
  check,  // computes and reports, writes nothing
  write,
};

// How a step rounds and draws: `seed` and `step` matter to bf16-sr alone.
struct UpdateOptions {
  plan::Precision precision = plan::Precision::bf16;
  std::uint64_t seed = 0;
  std::int64_t step = 1;
  int threads = 1;
};

// `Pass::write` writes what `Pass::check` reports, finite or not. That no step ever leaves anything
// but finite weights is up to the order of the step, which overflow.h states.
UpdateReport update(const ParameterShard& shard, const StepFactors& factors,
                    const UpdateOptions& options, Pass pass);

// Fills weight and master from the fp32 values that a run starts with: the master is exact for
// fp32, bf16 and bf16-split, the remainder rounded to bf16 for bf16-kahan. bf16-sr and bf16-pure
// round to nearest, ties to even. A shard without a master fills the weight alone, to the same
// value. Returns how many elements do not become finite weights.
std::int64_t set_weights(const ParameterShard& shard, const float* values,
                         plan::Precision precision);

}  // namespace fourhold::engine
