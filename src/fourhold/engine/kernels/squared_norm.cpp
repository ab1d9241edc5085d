#include "fourhold/engine/kernels/squared_norm.h"

#include "fourhold/engine/kernels/dispatch.h"
#include "fourhold/engine/kernels/fixed_sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fourhold/engine/kernels/squared_norm.cpp"
#include <hwy/foreach_target.h>

#include "fourhold/engine/kernels/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine {
namespace HWY_NAMESPACE {
namespace {

using Doubles = hn::ScalableTag<double>;
using FewFloats = hn::Rebind<float, Doubles>;  // as many as doubles
constexpr std::int64_t kDoubles = HWY_LANES(double) < HWY_LANES(float) ? kLanes / 2 : kLanes;
constexpr std::int64_t kParts = kLanes / kDoubles;

// The sum of squares of [begin, end), widened to fp64 before they are squared.
template <typename T>
double sum_of_squares(const T* x, std::int64_t begin, std::int64_t end) {
  hn::Vec<Doubles> sums[kParts];
  for (auto& sum : sums) sum = hn::Zero(Doubles());
  for_vectors(begin, end, [&](std::int64_t i, auto lanes) HWY_ATTR {
    alignas(64) float values[kLanes];
    store(lanes.load(x + i), values);
    for (std::int64_t part = 0; part < kParts; ++part) {
      const auto wide = hn::PromoteTo(Doubles(), hn::LoadU(FewFloats(), values + part * kDoubles));
      sums[part] = hn::MulAdd(wide, wide, sums[part]);
    }
  });
  for (std::int64_t part = 1; part < kParts; ++part) sums[0] = hn::Add(sums[0], sums[part]);
  return hn::GetLane(hn::SumOfLanes(Doubles(), sums[0]));
}

double squared_norm_all(const Tensor& x, int threads) {
  double total = 0;
  with_type(x.dtype, [&](auto type) {
    using T = decltype(type);
    const T* data = x.as<const T>().data();
    total = fixed_sum(x.elements(), threads, [&](std::int64_t begin, std::int64_t end) {
      return sum_of_squares(data, begin, end);
    });
  });
  return total;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fourhold::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourhold::engine {
namespace {
HWY_EXPORT(squared_norm_all);
}  // namespace

double squared_norm(const Tensor& x, const Execution& execution) {
  return HWY_DISPATCH_TABLE(squared_norm_all)[version_of(execution.isa)](x, execution.threads);
}

}  // namespace fourhold::engine
#endif  // HWY_ONCE
