// Functions of one fp32 vector: what activations and softmaxes need. Compiled once for each target.
#if defined(FOURHOLD_ENGINE_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOURHOLD_ENGINE_KERNELS_MATH_INL_H_
#undef FOURHOLD_ENGINE_KERNELS_MATH_INL_H_
#else
#define FOURHOLD_ENGINE_KERNELS_MATH_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>

#include "fourhold/engine/kernels/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine {
namespace HWY_NAMESPACE {

// e^x for x up to 88; larger x gives e^88, which is as good as infinity to all who call it. What is
// not a number stays so.
HWY_INLINE Vector exponential(Vector x) {
  const Vector power = hn::Exp(Floats(), hn::Min(x, splat(88.0F)));
  return hn::IfThenElse(hn::IsNaN(x), x, power);
}

// 2^x for x <= 127, zero below -126 (also of minus infinity). The polynomial of 2^f, |f| <= 1/2, is
// the one of degree six with the least largest relative error, 2e-9 (found by Remez exchange), so
// the error is that of rounding: 2 units in the last place. What is not a number stays so.
HWY_INLINE Vector exponential_of_two(Vector x) {
  const hn::Rebind<std::int32_t, Floats> ints;
  const Vector whole = hn::Round(hn::Max(x, splat(-127.0F)));
  const Vector f = hn::Sub(x, whole);
  Vector p = splat(1.5345812e-4F);
  p = hn::MulAdd(p, f, splat(1.339993122e-3F));
  p = hn::MulAdd(p, f, splat(9.618488957e-3F));
  p = hn::MulAdd(p, f, splat(5.550328777e-2F));
  p = hn::MulAdd(p, f, splat(0.2402264689F));
  p = hn::MulAdd(p, f, splat(0.6931472057F));
  p = hn::MulAdd(p, f, splat(1.0F));
  const auto biased = hn::Add(hn::ConvertTo(ints, whole), hn::Set(ints, 127));
  const Vector power = hn::BitCast(Floats(), hn::ShiftLeft<23>(biased));
  return hn::IfThenZeroElse(hn::Lt(x, splat(-126.0F)), hn::Mul(p, power));
}

HWY_INLINE Vector sigmoid(Vector x) {
  const Vector one = splat(1.0F);
  return hn::Div(one, hn::Add(one, exponential(hn::Neg(x))));
}

HWY_INLINE Vector hyperbolic_tangent(Vector x) { return hn::Tanh(Floats(), x); }

// The normal distribution: how much lies below x, and how dense it is at x.
struct Normal {
  Vector below;
  Vector density;
};

// below(-|x|) = exp(-x^2 / 2) / 2 * t Q(t) with t = 1 / (1 + 0.3 |x|): the form of Abramowitz and
// Stegun 7.1.26 for erfc(x / sqrt 2), with a Q of degree nine whose relative error is 3.5e-9 for
// |x| <= 14 (found by Remez exchange). In fp32 `below` is right to 1e-7, absolute.
HWY_INLINE Normal normal_at(Vector x) {
  const Vector t = hn::Div(splat(1.0F), hn::MulAdd(hn::Abs(x), splat(0.3F), splat(1.0F)));
  Vector q = splat(-0.0412256475389F);
  q = hn::MulAdd(q, t, splat(0.224751492648F));
  q = hn::MulAdd(q, t, splat(-0.456134868977F));
  q = hn::MulAdd(q, t, splat(0.383163166775F));
  q = hn::MulAdd(q, t, splat(-0.158494485329F));
  q = hn::MulAdd(q, t, splat(0.192115549596F));
  q = hn::MulAdd(q, t, splat(0.156851198648F));
  q = hn::MulAdd(q, t, splat(0.220454639092F));
  q = hn::MulAdd(q, t, splat(0.239145683516F));
  q = hn::MulAdd(q, t, splat(0.239373268123F));
  const Vector bell = exponential(hn::Mul(hn::Mul(x, x), splat(-0.5F)));
  const Vector tail = hn::Mul(hn::Mul(bell, splat(0.5F)), hn::Mul(t, q));
  const Vector below = hn::IfThenElse(hn::Lt(x, splat(0.0F)), tail, hn::Sub(splat(1.0F), tail));
  return {below, hn::Mul(bell, splat(0.398942280401F))};  // 1 / sqrt(2 pi)
}

}  // namespace HWY_NAMESPACE
}  // namespace fourhold::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
