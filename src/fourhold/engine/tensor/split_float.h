// An fp32 value kept as a bf16 and the 16 bits that are left over.
//
// The bf16 is the value rounded to nearest, ties away from zero: bits + 0x8000, cut. The carry went
// up exactly where the lower half is 0x8000 or more, so the pair gives the value back without loss.
// (Rounding ties to even would not: two values would share one pair.)
#pragma once

#include <cstdint>
#include <cstring>

#include "fourhold/engine/tensor/bf16.h"

namespace fourhold::engine {

struct SplitFloat {
  Bf16 weight;
  std::uint16_t low = 0;
  friend constexpr bool operator==(const SplitFloat&, const SplitFloat&) = default;
};

// The pair of a finite value; a magnitude of 0x7f7f8000 or more rounds to an infinite weight, which
// the optimizer never stores.
[[nodiscard]] inline SplitFloat split(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return {{static_cast<std::uint16_t>((bits + 0x8000U) >> 16)}, static_cast<std::uint16_t>(bits)};
}

[[nodiscard]] inline float join(SplitFloat pair) {
  const auto high = static_cast<std::uint16_t>(pair.weight.bits - (pair.low >= 0x8000U ? 1 : 0));
  const std::uint32_t bits = (static_cast<std::uint32_t>(high) << 16) | pair.low;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// The rounding with which a master copy becomes the bf16 weight.
[[nodiscard]] inline Bf16 to_bf16_ties_away(float value) { return split(value).weight; }

}  // namespace fourhold::engine
