// Compiled once for each instruction set by foreach_target.h; the widest is picked at run time.
#include "fourhold/engine/optimizer/norm_kernel.h"

#include <algorithm>
#include <cstdint>

// CPUs older than AVX2 (2013) take the portable form.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#define HWY_TARGET_INCLUDE "fourhold/engine/optimizer/norm_kernel.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> load_as_float(D d, const float* values) {
  return hn::LoadU(d, values);
}
template <class D>
HWY_INLINE hn::Vec<D> load_as_float(D d, const Bf16* values) {
  const hn::Rebind<std::uint16_t, D> halves;
  const hn::RebindToUnsigned<D> words;
  const auto bits = hn::LoadU(halves, reinterpret_cast<const std::uint16_t*>(values));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(words, bits)));
}

// Adds `value` to `sum` and what that rounded away to `error`.
template <class V>
HWY_INLINE void add(V value, V& sum, V& error) {
  const V total = hn::Add(sum, value);
  const V part = hn::Sub(total, sum);
  error = hn::Add(error, hn::Add(hn::Sub(sum, hn::Sub(total, part)), hn::Sub(value, part)));
  sum = total;
}

template <class T>
void sum_range(const T* values, std::size_t count, SquaredNorm& norm) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  // Two chains of additions, for the latency of one.
  V sum0 = hn::Zero(d);
  V sum1 = hn::Zero(d);
  V error0 = hn::Zero(d);
  V error1 = hn::Zero(d);
  auto largest = hn::Zero(df);
  std::size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto value0 = load_as_float(df, values + i);
    const auto value1 = load_as_float(df, values + i + lanes);
    largest = hn::Max(largest, hn::Max(hn::Abs(value0), hn::Abs(value1)));
    const V wide0 = hn::PromoteTo(d, value0);
    const V wide1 = hn::PromoteTo(d, value1);
    add(hn::Mul(wide0, wide0), sum0, error0);
    add(hn::Mul(wide1, wide1), sum1, error1);
  }
  add(sum1, sum0, error0);
  error0 = hn::Add(error0, error1);

  HWY_ALIGN double sums[hn::MaxLanes(d)];
  HWY_ALIGN double errors[hn::MaxLanes(d)];
  hn::Store(sum0, d, sums);
  hn::Store(error0, d, errors);
  norm.largest = hn::GetLane(hn::MaxOfLanes(df, largest));
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    SquaredNorm part;
    part.sum = sums[lane];
    part.error = errors[lane];
    norm += part;
  }
  for (; i < count; ++i) {
    const float value = to_float(values[i]);
    SquaredNorm part;
    part.sum = static_cast<double>(value) * static_cast<double>(value);
    part.largest = value < 0 ? -value : value;
    norm += part;
  }
}

void sum_fp32(const float* values, std::size_t count, SquaredNorm& norm) {
  sum_range(values, count, norm);
}
void sum_bf16(const Bf16* values, std::size_t count, SquaredNorm& norm) {
  sum_range(values, count, norm);
}

}  // namespace fourhold::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourhold::engine {
namespace {
HWY_EXPORT(sum_fp32);
HWY_EXPORT(sum_bf16);
}  // namespace

SquaredNorm sum_squares(const float* values, std::size_t count) {
  SquaredNorm norm;
  HWY_DYNAMIC_DISPATCH(sum_fp32)(values, count, norm);
  return norm;
}
SquaredNorm sum_squares(const Bf16* values, std::size_t count) {
  SquaredNorm norm;
  HWY_DYNAMIC_DISPATCH(sum_bf16)(values, count, norm);
  return norm;
}

}  // namespace fourhold::engine
#endif  // HWY_ONCE
