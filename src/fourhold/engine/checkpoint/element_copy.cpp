#include "fourhold/engine/checkpoint/element_copy.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <type_traits>

#include "fourhold/engine/tensor/bf16.h"

namespace fourhold::engine {
namespace {

struct Fp16 {
  std::uint16_t bits = 0;
};

// IEEE 754 binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits. Every value is an fp32.
float widened(Fp16 value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000U) << 16;
  const std::uint32_t exponent = (value.bits >> 10) & 0x1fU;
  const std::uint32_t fraction = value.bits & 0x3ffU;
  std::uint32_t bits = 0;
  if (exponent == 0) {  // zero or subnormal: fraction x 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    std::memcpy(&bits, &magnitude, sizeof bits);
  } else if (exponent == 31) {  // infinity or NaN
    bits = 0x7f800000U | fraction << 13;
  } else {
    bits = (exponent + 112) << 23 | fraction << 13;
  }
  bits |= sign;
  float result = 0;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

float widened(Bf16 value) { return to_float(value); }
float widened(float value) { return value; }

template <typename From, typename To>
To convert(From value) {
  if constexpr (std::is_same_v<From, To>) {
    return value;
  } else if constexpr (std::is_same_v<To, Bf16>) {
    return to_bf16(widened(value));
  } else {
    return widened(value);
  }
}

template <typename From, typename To>
void copy_row(const std::byte* from, std::byte* to, std::int64_t columns) {
  for (std::int64_t i = 0; i < columns; ++i) {
    From value;
    std::memcpy(&value, from + i * std::int64_t{sizeof(From)}, sizeof value);
    const To converted = convert<From, To>(value);
    std::memcpy(to + i * std::int64_t{sizeof(To)}, &converted, sizeof converted);
  }
}

// Square tiles keep both sides in the cache when one of them runs across its rows.
template <typename From, typename To>
void copy_tiles(const ElementSource& from, const ElementTarget& to, std::int64_t rows,
                std::int64_t columns) {
  constexpr std::int64_t kTile = 32;
  for (std::int64_t top = 0; top < rows; top += kTile) {
    for (std::int64_t left = 0; left < columns; left += kTile) {
      const std::int64_t bottom = std::min(top + kTile, rows);
      const std::int64_t right = std::min(left + kTile, columns);
      for (std::int64_t r = top; r < bottom; ++r) {
        for (std::int64_t c = left; c < right; ++c) {
          From value;
          std::memcpy(&value,
                      from.data + (r * from.row_stride + c * from.column_stride) *
                                      std::int64_t{sizeof(From)},
                      sizeof value);
          const To converted = convert<From, To>(value);
          std::memcpy(
              to.data + (r * to.row_stride + c * to.column_stride) * std::int64_t{sizeof(To)},
              &converted, sizeof converted);
        }
      }
    }
  }
}

template <typename From, typename To>
void copy_typed(const ElementSource& from, const ElementTarget& to, std::int64_t rows,
                std::int64_t columns) {
  if (from.column_stride != 1 || to.column_stride != 1) {
    copy_tiles<From, To>(from, to, rows, columns);
    return;
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::byte* source = from.data + r * from.row_stride * std::int64_t{sizeof(From)};
    std::byte* target = to.data + r * to.row_stride * std::int64_t{sizeof(To)};
    if constexpr (std::is_same_v<From, To>) {
      std::memcpy(target, source, static_cast<std::size_t>(columns) * sizeof(From));
    } else {
      copy_row<From, To>(source, target, columns);
    }
  }
}

template <typename From>
void copy_from(const ElementSource& from, const ElementTarget& to, std::int64_t rows,
               std::int64_t columns) {
  if (to.dtype == DType::bf16) {
    copy_typed<From, Bf16>(from, to, rows, columns);
  } else {
    copy_typed<From, float>(from, to, rows, columns);
  }
}

bool is_float(DType dtype) {
  return dtype == DType::fp32 || dtype == DType::bf16 || dtype == DType::fp16;
}

}  // namespace

bool can_convert(DType from, DType to) {
  if (from == to) return info(from).bits % 8 == 0;
  return is_float(from) && (to == DType::fp32 || to == DType::bf16);
}

void copy_elements(const ElementSource& from, const ElementTarget& to, std::int64_t rows,
                   std::int64_t columns) {
  assert(can_convert(from.dtype, to.dtype) && "the caller has checked the types");
  if (from.dtype == to.dtype) {
    switch (info(from.dtype).bits) {
      case 8:
        return copy_typed<std::uint8_t, std::uint8_t>(from, to, rows, columns);
      case 16:
        return copy_typed<std::uint16_t, std::uint16_t>(from, to, rows, columns);
      case 32:
        return copy_typed<std::uint32_t, std::uint32_t>(from, to, rows, columns);
      default:
        return copy_typed<std::uint64_t, std::uint64_t>(from, to, rows, columns);
    }
  }
  if (from.dtype == DType::fp16) return copy_from<Fp16>(from, to, rows, columns);
  if (from.dtype == DType::bf16) return copy_from<Bf16>(from, to, rows, columns);
  copy_from<float>(from, to, rows, columns);
}

}  // namespace fourhold::engine
