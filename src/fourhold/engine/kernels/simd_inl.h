// Vectors of fp32 that are read from and written to fp32 or bf16, and loops over rows of any
// length. Compiled once for each target: every kernel's source includes it after foreach_target.h.
#if defined(FOURHOLD_ENGINE_KERNELS_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOURHOLD_ENGINE_KERNELS_SIMD_INL_H_
#undef FOURHOLD_ENGINE_KERNELS_SIMD_INL_H_
#else
#define FOURHOLD_ENGINE_KERNELS_SIMD_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>

#include "fourhold/base/dtype.h"
#include "fourhold/engine/tensor/bf16.h"

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;
inline constexpr std::int64_t kLanes = HWY_LANES(float);

HWY_INLINE Vector splat(float value) { return hn::Set(Floats(), value); }

HWY_INLINE Vector load(const float* from) { return hn::LoadU(Floats(), from); }
HWY_INLINE Vector load(const Bf16* from) {
  const hn::Rebind<std::uint32_t, Floats> wide;
  const hn::Rebind<std::uint16_t, Floats> narrow;
  const auto bits = hn::PromoteTo(wide, hn::LoadU(narrow, &from->bits));
  return hn::BitCast(Floats(), hn::ShiftLeft<16>(bits));
}

HWY_INLINE void store(Vector value, float* to) { hn::StoreU(value, Floats(), to); }
// Rounds as to_bf16 does.
HWY_INLINE void store(Vector value, Bf16* to) {
  const hn::Rebind<std::uint32_t, Floats> wide;
  const hn::Rebind<std::int32_t, Floats> wide_signed;
  const hn::Rebind<std::uint16_t, Floats> narrow;
  const auto bits = hn::BitCast(wide, value);
  const auto upper = hn::ShiftRight<16>(bits);
  const auto odd = hn::And(upper, hn::Set(wide, 1U));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(wide, 0x7fffU))));
  const auto quiet = hn::Or(upper, hn::Set(wide, 0x40U));
  const auto is_nan = hn::RebindMask(wide, hn::IsNaN(value));
  const auto chosen = hn::IfThenElse(is_nan, quiet, rounded);
  hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(wide_signed, chosen)), narrow, &to->bits);
}

// Access to a whole vector ...
struct AllLanes {
  template <typename T>
  HWY_INLINE Vector load(const T* from) const {
    return HWY_NAMESPACE::load(from);
  }
  template <typename T>
  HWY_INLINE Vector load(const T* from, float /*rest*/) const {
    return HWY_NAMESPACE::load(from);
  }
  template <typename T>
  HWY_INLINE void store(Vector value, T* to) const {
    HWY_NAMESPACE::store(value, to);
  }
};

// ... and to the first `count` lanes of one, at the end of a row: nothing beyond is touched.
struct FirstLanes {
  std::int64_t count = 0;

  template <typename T>
  HWY_INLINE Vector load(const T* from, float rest = 0) const {
    alignas(64) T lanes[static_cast<std::size_t>(kLanes)];
    HWY_NAMESPACE::store(splat(rest), lanes);
    std::memcpy(lanes, from, static_cast<std::size_t>(count) * sizeof(T));
    return HWY_NAMESPACE::load(lanes);
  }
  template <typename T>
  HWY_INLINE void store(Vector value, T* to) const {
    alignas(64) T lanes[static_cast<std::size_t>(kLanes)];
    HWY_NAMESPACE::store(value, lanes);
    std::memcpy(to, lanes, static_cast<std::size_t>(count) * sizeof(T));
  }
};

// Calls visit(i, lanes) for the vectors that begin at element i.
template <class Visit>
HWY_INLINE void for_vectors(std::int64_t begin, std::int64_t end, const Visit& visit) {
  std::int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) visit(i, AllLanes{});
  if (i < end) visit(i, FirstLanes{end - i});
}

// The sum over lanes of term(i, lanes), a vector that is zero where `lanes` loaded nothing. Four
// sums run side by side, so that one addition need not wait for the last. The order is fixed by
// the length.
template <class Term>
HWY_INLINE float sum_over(std::int64_t count, const Term& term) {
  Vector a = splat(0);
  Vector b = a;
  Vector c = a;
  Vector d = a;
  std::int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
    a = hn::Add(a, term(i, AllLanes{}));
    b = hn::Add(b, term(i + kLanes, AllLanes{}));
    c = hn::Add(c, term(i + 2 * kLanes, AllLanes{}));
    d = hn::Add(d, term(i + 3 * kLanes, AllLanes{}));
  }
  for (; i + kLanes <= count; i += kLanes) a = hn::Add(a, term(i, AllLanes{}));
  if (i < count) b = hn::Add(b, term(i, FirstLanes{count - i}));
  return hn::GetLane(hn::SumOfLanes(Floats(), hn::Add(hn::Add(a, b), hn::Add(c, d))));
}

// Calls visit with a value of the element's type, which must be one that kernels compute with.
template <class Visit>
void with_type(DType dtype, const Visit& visit) {
  assert((dtype == DType::bf16 || dtype == DType::fp32) && "kernels compute in bf16 or fp32");
  if (dtype == DType::bf16) {
    visit(Bf16{});
  } else {
    visit(float{});
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fourhold::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
