// IEEE-like binary formats by their two sizes: spacing, rounding, and values from bits.
#pragma once

#include <cstdint>
#include <optional>

#include "fourhold/base/dtype.h"
#include "fourhold/model/stored_type.h"

namespace fourhold::engine {

struct FloatFormat {
  int exponent_bits = 8;
  int fraction_bits = 7;
  bool has_infinity = true;  // false: the highest exponent holds numbers, all ones is NaN

  [[nodiscard]] constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] constexpr int bits() const { return 1 + exponent_bits + fraction_bits; }
};

// The formats training computes in, and those that hold weights in files; nothing for others.
[[nodiscard]] std::optional<FloatFormat> format_of(DType dtype);
[[nodiscard]] std::optional<FloatFormat> format_of(model::StoredType type);

// The value with these bits, of a format of at most 64; infinity and NaN where the format has them.
[[nodiscard]] double value_of_bits(const FloatFormat& format, std::uint64_t bits);

// The distance between a finite value's magnitude and the next larger one, as if there were one
// above the largest.
[[nodiscard]] double spacing_above(const FloatFormat& format, double value);

// Nearest value of the format, which has an infinity, ties to even; infinite where the largest is
// passed by half a spacing or more. NaN stays NaN.
[[nodiscard]] double round_to(const FloatFormat& format, double value);

// The bits of a finite value of the format: the inverse of value_of_bits.
[[nodiscard]] std::uint64_t bits_of_value(const FloatFormat& format, double value);

}  // namespace fourhold::engine
