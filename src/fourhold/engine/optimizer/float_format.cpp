#include "fourhold/engine/optimizer/float_format.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace fourhold::engine {
namespace {

constexpr FloatFormat kFp64{11, 52};
constexpr FloatFormat kFp32{8, 23};
constexpr FloatFormat kFp16{5, 10};
constexpr FloatFormat kBf16{8, 7};
// P. Micikevicius et al., arXiv 2209.05433, table 1: E4M3 gives up infinity for range, E5M2 does
// not.
constexpr FloatFormat kFp8E4M3{4, 3, false};
constexpr FloatFormat kFp8E5M2{5, 2};

}  // namespace

std::optional<FloatFormat> format_of(DType dtype) {
  switch (dtype) {
    case DType::fp32:
      return kFp32;
    case DType::bf16:
      return kBf16;
    case DType::fp16:
      return kFp16;
    case DType::fp64:
      return kFp64;
    default:
      return std::nullopt;
  }
}

std::optional<FloatFormat> format_of(model::StoredType type) {
  switch (type) {
    case model::StoredType::f64:
      return kFp64;
    case model::StoredType::f32:
      return kFp32;
    case model::StoredType::f16:
      return kFp16;
    case model::StoredType::bf16:
      return kBf16;
    case model::StoredType::f8_e4m3:
      return kFp8E4M3;
    case model::StoredType::f8_e5m2:
      return kFp8E5M2;
    default:
      return std::nullopt;
  }
}

double value_of_bits(const FloatFormat& format, std::uint64_t bits) {
  const std::uint64_t fraction_mask = (std::uint64_t{1} << format.fraction_bits) - 1;
  const std::uint64_t exponent_mask = (std::uint64_t{1} << format.exponent_bits) - 1;
  const std::uint64_t fraction = bits & fraction_mask;
  const std::uint64_t exponent = (bits >> format.fraction_bits) & exponent_mask;
  const bool negative = ((bits >> (format.bits() - 1)) & 1U) != 0;
  double magnitude = 0;
  const bool is_special =
      exponent == exponent_mask && (format.has_infinity || fraction == fraction_mask);
  if (is_special) {
    magnitude = format.has_infinity && fraction == 0 ? std::numeric_limits<double>::infinity()
                                                     : std::numeric_limits<double>::quiet_NaN();
  } else {
    const std::uint64_t whole = exponent == 0 ? fraction : fraction | (fraction_mask + 1);
    const int power = std::max(static_cast<int>(exponent), 1) - format.bias();
    magnitude = std::ldexp(static_cast<double>(whole), power - format.fraction_bits);
  }
  return negative ? -magnitude : magnitude;
}

double spacing_above(const FloatFormat& format, double value) {
  const int lowest = 1 - format.bias();
  const int power = value == 0 ? lowest : std::max(std::ilogb(value), lowest);
  return std::ldexp(1.0, power - format.fraction_bits);
}

double round_to(const FloatFormat& format, double value) {
  assert(format.has_infinity);
  if (!std::isfinite(value)) return value;
  const double spacing = spacing_above(format, value);
  // Dividing by a power of two is exact; nearbyint rounds ties to even.
  const double rounded = std::nearbyint(value / spacing) * spacing;
  return std::abs(rounded) >= std::ldexp(2.0, format.bias())
             ? std::copysign(std::numeric_limits<double>::infinity(), value)
             : rounded;
}

std::uint64_t bits_of_value(const FloatFormat& format, double value) {
  assert(std::isfinite(value) && round_to(format, value) == value);
  const std::uint64_t sign = std::signbit(value) ? std::uint64_t{1} << (format.bits() - 1) : 0;
  // In units of the spacing a normal value is 2^fraction_bits + fraction; the leading one carries
  // into the exponent field, which therefore starts one lower.
  const double spacing = spacing_above(format, value);
  const auto units = static_cast<std::uint64_t>(std::abs(value) / spacing);
  const int exponent = std::ilogb(spacing) + format.fraction_bits + format.bias() - 1;
  return sign | ((static_cast<std::uint64_t>(exponent) << format.fraction_bits) + units);
}

}  // namespace fourhold::engine
