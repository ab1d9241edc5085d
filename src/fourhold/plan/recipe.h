// A recipe: the number formats of a run, and so the bytes each parameter costs.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "fourhold/base/dtype.h"
#include "fourhold/base/inline_vector.h"
#include "fourhold/model/operations.h"
#include "fourhold/model/parameters.h"
#include "fourhold/plan/moment_format.h"

namespace fourhold::plan {

// Bytes per parameter with AdamW: fp32 16, bf16 and fp16 16, bf16_split 14 (the master is the bf16
// weight plus 16 lower bits), bf16_kahan 14 (a 16-bit compensation), bf16_sr 12 (stochastic
// rounding), bf16_pure 12 (no master: small updates round away).
enum class Precision : std::uint8_t {
  fp32,
  bf16,
  fp16,
  bf16_split,
  bf16_kahan,
  bf16_sr,
  bf16_pure
};
inline constexpr std::array<std::string_view, 7> kPrecisionNames{
    "fp32", "bf16", "fp16", "bf16-split", "bf16-kahan", "bf16-sr", "bf16-pure"};

enum class Optimizer : std::uint8_t { adamw, adamw_8bit, adafactor, lion, sgd_momentum, muon };
inline constexpr std::array<std::string_view, 6> kOptimizerNames{"adamw", "adamw-8bit", "adafactor",
                                                                 "lion",  "sgd",        "muon"};

enum class GradientAccumulation : std::uint8_t { same_as_gradient, fp32 };
inline constexpr std::array<std::string_view, 2> kGradientAccumulationNames{"same", "fp32"};

// How weights are stored that adapters stand beside; `automatic` is the compute type under lora and
// nf4 under qlora. Bytes of each weight of a layer's matrices, the rest keeping the compute type:
//   int8    1, and one fp32 scale per row (LLM.int8, Dettmers 2022, arXiv 2208.07339, sec. 2.1)
//   nf4     0.5 + 4/64 = 0.5625: blocks of 64 with fp32 scales (QLoRA, Dettmers 2023,
//           arXiv 2305.14314, sec. 3; bitsandbytes' default)
//   nf4-dq  0.5 + 1/64 + 4/(64 x 256) = 0.5159: the scales in one byte, in blocks of 256 with fp32
//           scales of their own (double quantisation, the same section)
enum class BasePrecision : std::uint8_t { automatic, bf16, fp16, fp32, int8, nf4, nf4_dq };
inline constexpr std::array<std::string_view, 7> kBasePrecisionNames{
    "auto", "bf16", "fp16", "fp32", "int8", "nf4", "nf4-dq"};
[[nodiscard]] constexpr bool is_quantised(BasePrecision base) {
  return base == BasePrecision::int8 || base == BasePrecision::nf4 || base == BasePrecision::nf4_dq;
}

// One tensor of state beside a parameter of `rows` x `columns` elements, with the scales of its
// blocks where it is quantised, and theirs; 0 = none.
struct StateTensor {
  DType dtype = DType::fp32;
  std::int64_t elements = 0;
  std::int64_t scale_elements = 0;
  DType scale_dtype = DType::fp32;
  std::int64_t outer_scale_elements = 0;  // fp32
};

// Formats as one profile and precision give them. `master_bytes` 0 = none: 4 a full fp32 copy, 2
// the lower half (split) or the compensation (kahan).
struct Recipe {
  DType compute = DType::bf16;         // activations and arithmetic
  DType weight = DType::bf16;          // the weights a rank stores
  DType gathered = DType::bf16;        // the form in which a sharded weight is gathered and used
  DType gradient = DType::bf16;        // the accumulator
  DType block_gradient = DType::bf16;  // as backward makes it, before reduction and accumulation
  DType host_gradient = DType::bf16;   // the accumulator where it is offloaded
  int master_bytes = 4;
  DType short_master = DType::int16;  // of a master of 2 bytes
  bool fp8_layer_weights = false;     // kept beside 16-bit masters: ProductWeights::kept
  DType moment = DType::fp32;  // of the optimizer's moments, unless they have a format of their own
  MomentFormat first_moment = MomentFormat::automatic;
  MomentFormat second_moment = MomentFormat::automatic;
  Optimizer optimizer = Optimizer::adamw;
  BasePrecision base = BasePrecision::automatic;  // of frozen weights
  model::AdapterStorage adapters = model::AdapterStorage::as_weights;
};

// Moments the optimizer keeps for one parameter, of `elements` local values; at most two.
// AdamW 2 x 4; 8-bit AdamW 2 x 1 with one fp32 scale per 256 values (Dettmers 2022, arXiv
// 2110.02861, block-wise; bitsandbytes uses 256); Adafactor one row and one column vector for
// matrices (Shazeer 2018, arXiv 1804.04235, sec. 3), a full second moment for vectors; Lion and SGD
// one moment; Muon one momentum for matrices of layers, AdamW elsewhere. A moment with a format of
// its own costs 4, 2, or 1 + 4/128 bytes.
[[nodiscard]] InlineVector<StateTensor, 2> optimizer_state(const Recipe& recipe,
                                                           const model::Parameter& parameter,
                                                           std::int64_t elements);

// The recipe of one use of a parameter: adapters may be stored otherwise than weights, and the
// matrices of layers in fp8 beside their master.
[[nodiscard]] Recipe recipe_of_use(const Recipe& recipe, const model::BlockParameter& use);

// A weight that is not trained, of `elements` local values, in the recipe's base precision.
[[nodiscard]] StateTensor frozen_weight(const Recipe& recipe, const model::Parameter& parameter,
                                        std::int64_t elements);

}  // namespace fourhold::plan
