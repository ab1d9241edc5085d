// Compiled once for each instruction set by foreach_target.h; the widest is picked at run time.
#include "fourhold/engine/communicator/sum_kernel.h"

#include <cassert>

#include "fourhold/engine/tensor/bf16.h"
#include "fourhold/engine/threads/parallel.h"

// CPUs older than AVX2 (2013) take the portable form.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#define HWY_TARGET_INCLUDE "fourhold/engine/communicator/sum_kernel.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Words = hn::RebindToUnsigned<Floats>;
using Halves = hn::Rebind<std::uint16_t, Floats>;
using Vector = hn::Vec<Floats>;

HWY_INLINE Vector load(const float* values) { return hn::LoadU(Floats(), values); }
HWY_INLINE Vector load(const Bf16* values) {
  const auto bits = hn::LoadU(Halves(), &values->bits);
  return hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(Words(), bits)));
}

HWY_INLINE void store(Vector value, float* to) { hn::StoreU(value, Floats(), to); }
// Rounds as to_bf16 does.
HWY_INLINE void store(Vector value, Bf16* to) {
  const Words words;
  const auto bits = hn::BitCast(words, value);
  const auto upper = hn::ShiftRight<16>(bits);
  const auto odd = hn::And(upper, hn::Set(words, 1U));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(words, 0x7fffU))));
  const auto quiet = hn::Or(upper, hn::Set(words, 0x40U));
  const auto result = hn::IfThenElse(hn::RebindMask(words, hn::IsNaN(value)), quiet, rounded);
  hn::StoreU(hn::TruncateTo(Halves(), result), Halves(), &to->bits);
}

void put(float value, float* to) { *to = value; }
void put(float value, Bf16* to) { *to = to_bf16(value); }

template <typename From, typename To, bool kAccumulate>
void add_range(const SumOfSources& call, std::int64_t begin, std::int64_t end) {
  const auto source = [&](std::size_t rank) {
    return reinterpret_cast<const From*>(call.sources[rank]);
  };
  To* to = reinterpret_cast<To*>(call.to);
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  const std::size_t ranks = call.sources.size();
  std::int64_t i = begin;
  for (; i + 2 * lanes <= end; i += 2 * lanes) {
    Vector low = load(source(0) + i);
    Vector high = load(source(0) + i + lanes);
    for (std::size_t rank = 1; rank < ranks; ++rank) {
      low = hn::Add(low, load(source(rank) + i));
      high = hn::Add(high, load(source(rank) + i + lanes));
    }
    if (kAccumulate) {
      low = hn::Add(load(to + i), low);
      high = hn::Add(load(to + i + lanes), high);
    }
    store(low, to + i);
    store(high, to + i + lanes);
  }
  for (; i < end; ++i) {
    float total = to_float(source(0)[i]);
    for (std::size_t rank = 1; rank < ranks; ++rank) total += to_float(source(rank)[i]);
    if (kAccumulate) total = to_float(to[i]) + total;
    put(total, to + i);
  }
}

template <typename From, typename To>
void add_as(const SumOfSources& call, Sum sum, std::int64_t begin, std::int64_t end) {
  if (sum == Sum::accumulate) {
    add_range<From, To, true>(call, begin, end);
  } else {
    add_range<From, To, false>(call, begin, end);
  }
}

void add_share(const SumOfSources& call, Sum sum, std::int64_t begin, std::int64_t end) {
  const bool from_bf16 = call.source_type == DType::bf16;
  const bool to_bf16 = call.to_type == DType::bf16;
  if (from_bf16 && to_bf16) {
    add_as<Bf16, Bf16>(call, sum, begin, end);
  } else if (from_bf16) {
    add_as<Bf16, float>(call, sum, begin, end);
  } else if (to_bf16) {
    add_as<float, Bf16>(call, sum, begin, end);
  } else {
    add_as<float, float>(call, sum, begin, end);
  }
}

}  // namespace
}  // namespace fourhold::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourhold::engine {
namespace {

HWY_EXPORT(add_share);

// Below this many additions starting threads takes longer than adding.
constexpr std::int64_t kAdditionsWorthThreads = 1 << 15;

}  // namespace

void add_sources(const SumOfSources& call, Sum sum, int threads) {
  assert(!call.sources.empty() && "a sum has an addend");
  assert((call.source_type == DType::fp32 || call.source_type == DType::bf16) &&
         (call.to_type == DType::fp32 || call.to_type == DType::bf16) && "sums: fp32 or bf16");
  const auto additions = call.elements * static_cast<std::int64_t>(call.sources.size());
  parallel_for(call.elements, additions < kAdditionsWorthThreads ? 1 : threads,
               [&](const Share& share) {
                 HWY_DYNAMIC_DISPATCH(add_share)(call, sum, share.begin, share.end);
               });
}

}  // namespace fourhold::engine
#endif
