// Sixteen-bit brain floating point: the upper half of an fp32.
#pragma once

#include <cstdint>
#include <cstring>

namespace fourhold::engine {

struct Bf16 {
  std::uint16_t bits = 0;
  friend constexpr bool operator==(Bf16, Bf16) = default;  // of bits: NaN equals itself
};
static_assert(sizeof(Bf16) == 2);

[[nodiscard]] inline float to_float(Bf16 value) {
  const std::uint32_t bits = static_cast<std::uint32_t>(value.bits) << 16;
  float result = 0;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}
[[nodiscard]] inline float to_float(float value) { return value; }

// Rounds to nearest, ties to even; NaN stays a (quiet) NaN.
[[nodiscard]] inline Bf16 to_bf16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7fffffffU) > 0x7f800000U) {
    return {static_cast<std::uint16_t>((bits >> 16) | 0x40U)};
  }
  const std::uint32_t odd = (bits >> 16) & 1U;
  return {static_cast<std::uint16_t>((bits + 0x7fffU + odd) >> 16)};
}

}  // namespace fourhold::engine
