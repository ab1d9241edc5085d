// The AVX-512 micro kernel over units of 32 bits (avx512_pack.h), whatever a unit's product is.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace fourhold::engine::avx512 {

// 8 rows of three vectors: 24 sums hide the latency of two multiply-adds a cycle, and 11 loads feed
// 24 of them.
inline constexpr int kRows = 8;
inline constexpr int kVectors = 3;
inline constexpr int kColumns = kVectors * 16;

// Arithmetic::multiply_add(left, right, sum): sum + left x right in each lane.
template <typename Arithmetic>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl"), gnu::always_inline]] inline void
multiply_units(std::int64_t units, const std::byte* packed_left, const std::byte* packed_right,
               float* to, bool first) {
  const auto* left = reinterpret_cast<const float*>(packed_left);
  const auto* right = reinterpret_cast<const float*>(packed_right);
  __m512 sums[kRows][kVectors];
  for (auto& row : sums) {
    for (__m512& sum : row) sum = _mm512_setzero_ps();
  }
  for (std::int64_t u = 0; u < units; ++u, left += kRows, right += kColumns) {
    const __m512 right0 = _mm512_loadu_ps(right);
    const __m512 right1 = _mm512_loadu_ps(right + 16);
    const __m512 right2 = _mm512_loadu_ps(right + 32);
    for (int r = 0; r < kRows; ++r) {
      const __m512 broadcast = _mm512_set1_ps(left[r]);
      sums[r][0] = Arithmetic::multiply_add(broadcast, right0, sums[r][0]);
      sums[r][1] = Arithmetic::multiply_add(broadcast, right1, sums[r][1]);
      sums[r][2] = Arithmetic::multiply_add(broadcast, right2, sums[r][2]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      float* place = to + std::ptrdiff_t{r} * kColumns + std::ptrdiff_t{v} * 16;
      if (!first) sums[r][v] = _mm512_add_ps(sums[r][v], _mm512_loadu_ps(place));
      _mm512_storeu_ps(place, sums[r][v]);
    }
  }
}

}  // namespace fourhold::engine::avx512
