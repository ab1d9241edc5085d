// Compiled once for each instruction set by foreach_target.h; the widest is picked at run time.
#include "fourhold/engine/optimizer/update_kernel.h"

#include <algorithm>
#include <cfloat>

// CPUs older than AVX2 (2013) take the portable form.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#define HWY_TARGET_INCLUDE "fourhold/engine/optimizer/update_kernel.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "fourhold/engine/optimizer/update_rules-inl.h"
#include "fourhold/engine/optimizer/weight_formats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Fp32Gradient {
  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const void* gradient, std::size_t i) {
    return hn::LoadU(d, static_cast<const float*>(gradient) + i);
  }
};
struct Bf16Gradient {
  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const void* gradient, std::size_t i) {
    return load_bf16(d, static_cast<const std::uint16_t*>(gradient) + i);
  }
};

template <class D, class V>
HWY_INLINE hn::Mask<D> is_finite(D d, V value) {
  return hn::Le(hn::Abs(value), hn::Set(d, FLT_MAX));  // false for NaN
}

// The sum of one per lane; at most kUpdateBlock.
template <class DI, class V>
HWY_INLINE std::int64_t count(DI di, V lanes) {
  return static_cast<std::int64_t>(hn::GetLane(hn::SumOfLanes(di, lanes)));
}

// Elements [begin, end), a multiple of the lanes of D.
template <class Rule, class Format, class Gradient, class D>
void update_lanes(D d, const UpdateBlock& block, std::size_t begin, std::size_t end,
                  const StepFactors& factors, Pass pass, UpdateReport& report) {
  using V = hn::Vec<D>;
  const hn::RebindToSigned<D> di;
  const V zero = hn::Zero(d);
  const V scale = hn::Set(d, factors.gradient_scale);
  V largest_weight = zero;
  V largest_moment1 = zero;
  // A true lane of a mask is -1.
  auto minus_nonzero = hn::Zero(di);
  auto minus_lost = hn::Zero(di);
  auto minus_finite = hn::Zero(di);
  for (std::size_t i = begin; i < end; i += hn::Lanes(d)) {
    const V old = Format::load(d, block, i);
    const V gradient = hn::Mul(Gradient::load(d, block.gradient, i), scale);
    const auto changed = Rule::apply(d, block, i, factors, old, gradient, pass);
    const auto updated = Format::add(d, block, i, old, changed.change, pass);

    const auto nonzero = hn::Ne(changed.change, zero);
    const auto lost = hn::And(nonzero, updated.unchanged);
    const auto finite =
        hn::And(hn::And(is_finite(d, updated.exact), is_finite(d, updated.weight)),
                hn::And(is_finite(d, changed.moment1), is_finite(d, changed.moment2)));
    minus_nonzero = hn::Add(minus_nonzero, hn::VecFromMask(di, hn::RebindMask(di, nonzero)));
    minus_lost = hn::Add(minus_lost, hn::VecFromMask(di, hn::RebindMask(di, lost)));
    minus_finite = hn::Add(minus_finite, hn::VecFromMask(di, hn::RebindMask(di, finite)));
    largest_weight = hn::Max(largest_weight, hn::Abs(updated.exact));
    largest_moment1 = hn::Max(largest_moment1, hn::Abs(changed.moment1));
  }
  const auto elements = static_cast<std::int64_t>(end - begin);
  report.elements += elements;
  report.nonzero -= count(di, minus_nonzero);
  report.lost -= count(di, minus_lost);
  report.nonfinite += elements + count(di, minus_finite);
  report.largest_weight =
      std::max(report.largest_weight, hn::GetLane(hn::MaxOfLanes(d, largest_weight)));
  report.largest_moment1 =
      std::max(report.largest_moment1, hn::GetLane(hn::MaxOfLanes(d, largest_moment1)));
}

template <class Rule, class Format, class Gradient>
void update_all(const UpdateBlock& block, const StepFactors& factors, Pass pass,
                UpdateReport& report) {
  const hn::ScalableTag<float> d;
  const std::size_t whole = block.elements - block.elements % hn::Lanes(d);
  if (whole > 0) {
    update_lanes<Rule, Format, Gradient>(d, block, 0, whole, factors, pass, report);
  }
  if (whole < block.elements) {
    const hn::CappedTag<float, 1> one;
    update_lanes<Rule, Format, Gradient>(one, block, whole, block.elements, factors, pass, report);
  }
}

template <class Rule, class Format>
void with_gradient(const UpdateBlock& block, const UpdateKind& kind, const StepFactors& factors,
                   UpdateReport& report) {
  if (kind.fp32_gradient) {
    update_all<Rule, Format, Fp32Gradient>(block, factors, kind.pass, report);
  } else {
    update_all<Rule, Format, Bf16Gradient>(block, factors, kind.pass, report);
  }
}

template <class Rule>
void with_rule(const UpdateBlock& block, const UpdateKind& kind, const StepFactors& factors,
               UpdateReport& report) {
  switch (kind.precision) {
    case plan::Precision::fp32:
      return update_all<Rule, Fp32Weights, Fp32Gradient>(block, factors, kind.pass, report);
    case plan::Precision::bf16:
      return with_gradient<Rule, MasterCopy>(block, kind, factors, report);
    case plan::Precision::bf16_split:
      return with_gradient<Rule, SplitMaster>(block, kind, factors, report);
    case plan::Precision::bf16_kahan:
      return with_gradient<Rule, KahanPair>(block, kind, factors, report);
    case plan::Precision::bf16_sr:
      return with_gradient<Rule, StochasticRounding>(block, kind, factors, report);
    case plan::Precision::bf16_pure:
      return with_gradient<Rule, NearestRounding>(block, kind, factors, report);
    case plan::Precision::fp16:
      break;  // refused by check_supported
  }
}

void dispatch_block(const UpdateBlock& block, const UpdateKind& kind, const StepFactors& factors,
                    UpdateReport& report) {
  switch (factors.optimizer) {
    case plan::Optimizer::adamw:
      return with_rule<AdamWRule>(block, kind, factors, report);
    case plan::Optimizer::lion:
      return with_rule<LionRule>(block, kind, factors, report);
    case plan::Optimizer::sgd_momentum:
      return with_rule<MomentumRule>(block, kind, factors, report);
    default:
      break;  // refused by check_supported
  }
}

}  // namespace fourhold::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourhold::engine {
namespace {
HWY_EXPORT(dispatch_block);
}  // namespace

void update_block(const UpdateBlock& block, const UpdateKind& kind, const StepFactors& factors,
                  UpdateReport& report) {
  HWY_DYNAMIC_DISPATCH(dispatch_block)(block, kind, factors, report);
}

}  // namespace fourhold::engine
#endif  // HWY_ONCE
