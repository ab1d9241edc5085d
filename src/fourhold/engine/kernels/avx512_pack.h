// Packing with AVX-512, 16 outer indices by 16 units at a time.
//
// A unit is what one lane multiplies: an fp32, or a pair of bf16 neighbours along depth (a missing
// second one is zero). A square of units is loaded with the outer index across registers
// (contiguous depth) or across lanes (contiguous outer index), and turned by a 16 x 16 transpose of
// 32-bit lanes where the packed form wants the other one. Edges are loaded as zeros.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fourhold/engine/kernels/gemm_operand.h"

namespace fourhold::engine::avx512 {

inline constexpr int kLanes = 16;

enum class Unit : std::uint8_t { fp32, fp32_from_bf16, bf16_pair };

// Lanes below `count`, which may be negative or above 16.
[[nodiscard]] inline std::uint32_t lanes_below(std::int64_t count) {
  return (1U << std::clamp<std::int64_t>(count, 0, kLanes)) - 1U;
}

// A square: register i, lane j.
using Square = __m512i[kLanes];

[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl"), gnu::always_inline]] inline void transpose(
    Square& square) {
  Square pairs;
  for (int i = 0; i < kLanes; i += 2) {
    pairs[i] = _mm512_unpacklo_epi32(square[i], square[i + 1]);
    pairs[i + 1] = _mm512_unpackhi_epi32(square[i], square[i + 1]);
  }
  // quads[4 g + c]: column c of each 128-bit lane, rows 4 g to 4 g + 3.
  Square quads;
  for (int g = 0; g < kLanes; g += 4) {
    quads[g] = _mm512_unpacklo_epi64(pairs[g], pairs[g + 2]);
    quads[g + 1] = _mm512_unpackhi_epi64(pairs[g], pairs[g + 2]);
    quads[g + 2] = _mm512_unpacklo_epi64(pairs[g + 1], pairs[g + 3]);
    quads[g + 3] = _mm512_unpackhi_epi64(pairs[g + 1], pairs[g + 3]);
  }
  for (int c = 0; c < 4; ++c) {
    const __m512i low01 = _mm512_shuffle_i32x4(quads[c], quads[c + 4], 0x88);
    const __m512i high01 = _mm512_shuffle_i32x4(quads[c], quads[c + 4], 0xdd);
    const __m512i low23 = _mm512_shuffle_i32x4(quads[c + 8], quads[c + 12], 0x88);
    const __m512i high23 = _mm512_shuffle_i32x4(quads[c + 8], quads[c + 12], 0xdd);
    square[c] = _mm512_shuffle_i32x4(low01, low23, 0x88);
    square[c + 8] = _mm512_shuffle_i32x4(low01, low23, 0xdd);
    square[c + 4] = _mm512_shuffle_i32x4(high01, high23, 0x88);
    square[c + 12] = _mm512_shuffle_i32x4(high01, high23, 0xdd);
  }
}

// Sixteen bf16, widened to the lower halves of 32 bits.
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl"), gnu::always_inline]] inline __m512i load_bf16(
    const Bf16* from, std::uint32_t lanes) {
  return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(static_cast<__mmask16>(lanes), from));
}

// One row of units along the contiguous index: `outer` and `depth` name its first element.
template <Unit kUnit>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl"), gnu::always_inline]] inline __m512i load_units(
    const GemmOperand& operand, const PackBlock& block, std::int64_t outer, std::int64_t depth) {
  const bool along_depth = operand.contiguous == Contiguous::depth;
  const std::int64_t depth_left = block.depth_end - depth;
  const std::int64_t outer_left = block.outer_end - outer;
  if (outer_left <= 0 || depth_left <= 0) return _mm512_setzero_si512();
  const std::uint32_t lanes = lanes_below(along_depth ? depth_left : outer_left);
  if constexpr (kUnit == Unit::fp32) {
    return _mm512_maskz_loadu_epi32(static_cast<__mmask16>(lanes), operand.at<float>(outer, depth));
  } else if constexpr (kUnit == Unit::fp32_from_bf16) {
    return _mm512_slli_epi32(load_bf16(operand.at<Bf16>(outer, depth), lanes), 16);
  } else {
    if (along_depth) {
      const std::uint64_t halves = (std::uint64_t{1} << std::min<std::int64_t>(depth_left, 32)) - 1;
      return _mm512_maskz_loadu_epi16(static_cast<__mmask32>(halves),
                                      operand.at<Bf16>(outer, depth));
    }
    const __m512i even = load_bf16(operand.at<Bf16>(outer, depth), lanes);
    if (depth_left == 1) return even;
    const __m512i odd = load_bf16(operand.at<Bf16>(outer, depth + 1), lanes);
    return _mm512_or_si512(even, _mm512_slli_epi32(odd, 16));
  }
}

// What runs across the lanes of a square's registers; the other index runs across registers.
enum class Lanes : std::uint8_t { outer, units };

// The square whose first element is (outer, depth).
template <Unit kUnit, Lanes kAcross>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl"), gnu::always_inline]] inline void load_square(
    const GemmOperand& operand, const PackBlock& block, std::int64_t outer, std::int64_t depth,
    Square& square) {
  constexpr int kDepth = kUnit == Unit::bf16_pair ? 2 : 1;  // of one unit
  if (operand.contiguous == Contiguous::depth) {
    for (int i = 0; i < kLanes; ++i) {
      square[i] = load_units<kUnit>(operand, block, outer + i, depth);
    }
    if constexpr (kAcross == Lanes::outer) transpose(square);
  } else {
    for (int i = 0; i < kLanes; ++i) {
      square[i] = load_units<kUnit>(operand, block, outer, depth + std::int64_t{i} * kDepth);
    }
    if constexpr (kAcross == Lanes::units) transpose(square);
  }
}

// Asks for the lines of the square whose first element is (outer, depth), which may lie outside.
template <Unit kUnit>
[[gnu::always_inline]] inline void prefetch_square(const GemmOperand& operand, std::int64_t outer,
                                                   std::int64_t depth) {
  constexpr int kDepth = kUnit == Unit::bf16_pair ? 2 : 1;
  const int element_bytes = kUnit == Unit::fp32 ? 4 : 2;
  const bool along_depth = operand.contiguous == Contiguous::depth;
  const int lines = along_depth ? kLanes : kLanes * kDepth;
  // As a number: computing an address outside an array is not defined for pointers.
  auto address = reinterpret_cast<std::uintptr_t>(operand.data) +
                 static_cast<std::uintptr_t>((along_depth ? outer * operand.stride + depth
                                                          : depth * operand.stride + outer) *
                                             element_bytes);
  const auto step = static_cast<std::uintptr_t>(operand.stride * element_bytes);
  for (int i = 0; i < lines; ++i, address += step) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that is never read
    _mm_prefetch(reinterpret_cast<const char*>(address), _MM_HINT_T0);
  }
}

// Stores one square of a strip of kWidth units: as 16 lanes of one strip, or as the halves of two.
template <int kWidth>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl"), gnu::always_inline]] inline void store_square(
    const Square& square, std::int64_t count, std::int32_t* to, std::int32_t* next_strip) {
  for (int i = 0; i < static_cast<int>(count); ++i) {
    if constexpr (kWidth >= kLanes) {
      _mm512_storeu_si512(to + std::ptrdiff_t{i} * kWidth, square[i]);
    } else {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + std::ptrdiff_t{i} * kWidth),
                          _mm512_castsi512_si256(square[i]));
      if (next_strip == nullptr) continue;
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(next_strip + std::ptrdiff_t{i} * kWidth),
                          _mm512_extracti64x4_epi64(square[i], 1));
    }
  }
}

// to[strip][unit][kWidth] with kWidth a multiple of 16, or 8. The last strip is filled with zeros.
template <Unit kUnit, int kWidth>
class StripPacker {
 public:
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl"), gnu::always_inline]] inline static void pack(
      const GemmOperand& operand, const PackBlock& block, std::byte* packed) {
    const std::int64_t units = (block.depth() + kDepth - 1) / kDepth;
    const std::int64_t outer = (block.outer() + kWidth - 1) / kWidth * kWidth;
    auto* to = reinterpret_cast<std::int32_t*>(packed);
    // Along the contiguous index first, so that memory is read in order.
    if (operand.contiguous == Contiguous::depth) {
      for (std::int64_t o = 0; o < outer; o += kLanes) {
        for (std::int64_t u = 0; u < units; u += kLanes) {
          prefetch_square<kUnit>(operand, block.outer_begin + o + kLanes,
                                 block.depth_begin + u * kDepth);
          pack_square(operand, block, {o, u, outer, units}, to);
        }
      }
    } else {
      for (std::int64_t u = 0; u < units; u += kLanes) {
        for (std::int64_t o = 0; o < outer; o += kLanes) {
          pack_square(operand, block, {o, u, outer, units}, to);
        }
      }
    }
  }

 private:
  static_assert(kWidth % kLanes == 0 || kWidth * 2 == kLanes);
  static constexpr int kDepth = kUnit == Unit::bf16_pair ? 2 : 1;
  struct Place {
    std::int64_t outer = 0;
    std::int64_t unit = 0;
    std::int64_t outer_count = 0;
    std::int64_t unit_count = 0;
  };

  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl"), gnu::always_inline]] inline static void
  pack_square(const GemmOperand& operand, const PackBlock& block, const Place& place,
              std::int32_t* to) {
    Square square;
    load_square<kUnit, Lanes::outer>(operand, block, block.outer_begin + place.outer,
                                     block.depth_begin + place.unit * kDepth, square);
    const std::int64_t strip = place.outer / kWidth;
    std::int32_t* first =
        to + (strip * place.unit_count + place.unit) * kWidth + place.outer % kWidth;
    std::int32_t* next = kWidth < kLanes && place.outer + kWidth < place.outer_count
                             ? first + place.unit_count * kWidth
                             : nullptr;
    store_square<kWidth>(square, std::min<std::int64_t>(kLanes, place.unit_count - place.unit),
                         first, next);
  }
};

}  // namespace fourhold::engine::avx512
