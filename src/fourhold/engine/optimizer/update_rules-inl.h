// The change that each optimizer makes to a weight, as vectors of fp32; formulas in
// hyperparameters.h. Included by update_kernel.cpp once for each instruction set.
#include <cstddef>

#include "fourhold/engine/optimizer/update_kernel.h"

#if defined(FOURHOLD_UPDATE_RULES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FOURHOLD_UPDATE_RULES_INL
#undef FOURHOLD_UPDATE_RULES_INL
#else
#define FOURHOLD_UPDATE_RULES_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The change of the weight, and the moments after the step (moment2 zero where there is none).
template <class V>
struct Change {
  V change;
  V moment1;
  V moment2;
};

// factor1 a + factor2 b
template <class D, class V>
HWY_INLINE V blend(D d, float factor1, V a, float factor2, V b) {
  return hn::Add(hn::Mul(hn::Set(d, factor1), a), hn::Mul(hn::Set(d, factor2), b));
}

struct AdamWRule {
  template <class D, class V>
  static HWY_INLINE Change<V> apply(D d, const UpdateBlock& block, std::size_t i,
                                    const StepFactors& f, V weight, V gradient, Pass pass) {
    const V moment1 =
        blend(d, f.beta1, hn::LoadU(d, block.moment1 + i), f.one_minus_beta1, gradient);
    const V moment2 = blend(d, f.beta2, hn::LoadU(d, block.moment2 + i), f.one_minus_beta2,
                            hn::Mul(gradient, gradient));
    if (pass == Pass::write) {
      hn::StoreU(moment1, d, block.moment1 + i);
      hn::StoreU(moment2, d, block.moment2 + i);
    }
    const V root = hn::Mul(hn::Sqrt(moment2), hn::Set(d, f.inverse_root_correction));
    const V ratio = hn::Div(moment1, hn::Add(root, hn::Set(d, f.epsilon)));
    return {hn::Neg(blend(d, f.decay, weight, f.step_size, ratio)), moment1, moment2};
  }
};

struct LionRule {
  template <class D, class V>
  static HWY_INLINE Change<V> apply(D d, const UpdateBlock& block, std::size_t i,
                                    const StepFactors& f, V weight, V gradient, Pass pass) {
    const V old = hn::LoadU(d, block.moment1 + i);
    const V direction = blend(d, f.beta1, old, f.one_minus_beta1, gradient);
    const V moment1 = blend(d, f.beta2, old, f.one_minus_beta2, gradient);
    if (pass == Pass::write) hn::StoreU(moment1, d, block.moment1 + i);
    const V zero = hn::Zero(d);
    const V step = hn::Set(d, f.step_size);
    const V signed_step =
        hn::IfThenElse(hn::Eq(direction, zero), zero, hn::CopySign(step, direction));
    const V decayed = hn::Mul(hn::Set(d, f.decay), weight);
    return {hn::Neg(hn::Add(decayed, signed_step)), moment1, zero};
  }
};

struct MomentumRule {
  template <class D, class V>
  static HWY_INLINE Change<V> apply(D d, const UpdateBlock& block, std::size_t i,
                                    const StepFactors& f, V weight, V gradient, Pass pass) {
    const V slope = hn::Add(gradient, hn::Mul(hn::Set(d, f.decay), weight));
    const V moment1 = hn::Add(hn::Mul(hn::Set(d, f.beta1), hn::LoadU(d, block.moment1 + i)), slope);
    if (pass == Pass::write) hn::StoreU(moment1, d, block.moment1 + i);
    return {hn::Neg(hn::Mul(hn::Set(d, f.step_size), moment1)), moment1, hn::Zero(d)};
  }
};

}  // namespace fourhold::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per target
