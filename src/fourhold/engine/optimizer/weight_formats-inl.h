// How each precision reads its authoritative copy and takes an update into it, as vectors of fp32.
// See the table in update.h. Included by update_kernel.cpp once for each instruction set.
#include <cstddef>
#include <cstdint>

#include "fourhold/engine/optimizer/update_kernel.h"

#if defined(FOURHOLD_WEIGHT_FORMATS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FOURHOLD_WEIGHT_FORMATS_INL
#undef FOURHOLD_WEIGHT_FORMATS_INL
#else
#define FOURHOLD_WEIGHT_FORMATS_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using Words = hn::RebindToUnsigned<D>;  // 32 bits, one for each fp32 lane
template <class D>
using Halves = hn::Rebind<std::uint16_t, D>;  // 16 bits, one for each fp32 lane

// The fp32 bits of 16-bit halves: zero-extended, then moved up for bf16.
template <class D>
HWY_INLINE hn::Vec<Words<D>> load_halves(D /*d*/, const std::uint16_t* halves) {
  return hn::PromoteTo(Words<D>(), hn::LoadU(Halves<D>(), halves));
}
template <class D>
HWY_INLINE hn::Vec<D> load_bf16(D d, const std::uint16_t* values) {
  return hn::BitCast(d, hn::ShiftLeft<16>(load_halves(d, values)));
}
// The lower 16 bits of each word.
template <class D>
HWY_INLINE void store_halves(D /*d*/, hn::Vec<Words<D>> words, std::uint16_t* halves) {
  hn::StoreU(hn::TruncateTo(Halves<D>(), words), Halves<D>(), halves);
}
// fp32 whose upper 16 bits are the bf16 and whose lower ones are zero.
template <class D>
HWY_INLINE hn::Vec<Words<D>> cut(D /*d*/, hn::Vec<Words<D>> bits) {
  return hn::And(bits, hn::Set(Words<D>(), 0xffff0000U));
}
template <class D>
HWY_INLINE hn::Vec<D> round_ties_away(D d, hn::Vec<D> value) {
  const Words<D> words;
  return hn::BitCast(d, cut(d, hn::Add(hn::BitCast(words, value), hn::Set(words, 0x8000U))));
}
template <class D>
HWY_INLINE hn::Vec<D> round_ties_to_even(D d, hn::Vec<D> value) {
  const Words<D> words;
  const auto bits = hn::BitCast(words, value);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(words, 1U));
  return hn::BitCast(d, cut(d, hn::Add(hn::Add(bits, hn::Set(words, 0x7fffU)), odd)));
}
template <class D>
HWY_INLINE void store_bf16(D d, hn::Vec<D> value, void* weight, std::size_t i) {
  store_halves(d, hn::ShiftRight<16>(hn::BitCast(Words<D>(), value)),
               static_cast<std::uint16_t*>(weight) + i);
}

// What an update made of an element. `exact` is the sum in fp32; the sum and the weight that is
// stored must both be finite.
template <class D>
struct Updated {
  hn::Vec<D> exact;
  hn::Vec<D> weight;
  hn::Mask<D> unchanged;  // the authoritative copy
};

struct Fp32Weights {
  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const UpdateBlock& block, std::size_t i) {
    return hn::LoadU(d, static_cast<const float*>(block.weight) + i);
  }
  template <class D, class V>
  static HWY_INLINE Updated<D> add(D d, const UpdateBlock& block, std::size_t i, V old, V change,
                                   Pass pass) {
    const V sum = hn::Add(old, change);
    if (pass == Pass::write) hn::StoreU(sum, d, static_cast<float*>(block.weight) + i);
    return {sum, sum, hn::Eq(sum, old)};
  }
};

struct MasterCopy {
  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const UpdateBlock& block, std::size_t i) {
    return hn::LoadU(d, static_cast<const float*>(block.master) + i);
  }
  template <class D, class V>
  static HWY_INLINE Updated<D> add(D d, const UpdateBlock& block, std::size_t i, V old, V change,
                                   Pass pass) {
    const V sum = hn::Add(old, change);
    const V weight = round_ties_away(d, sum);
    if (pass == Pass::write) {
      hn::StoreU(sum, d, static_cast<float*>(block.master) + i);
      store_bf16(d, weight, block.weight, i);
    }
    return {sum, weight, hn::Eq(sum, old)};
  }
};

struct SplitMaster {
  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const UpdateBlock& block, std::size_t i) {
    const Words<D> words;
    const auto weight = load_halves(d, static_cast<const std::uint16_t*>(block.weight) + i);
    const auto low = load_halves(d, static_cast<const std::uint16_t*>(block.master) + i);
    // The carry of the rounding is the low half's highest bit; the shift drops a borrow from 0.
    const auto high = hn::Sub(weight, hn::ShiftRight<15>(low));
    return hn::BitCast(d, hn::Or(hn::ShiftLeft<16>(high), hn::BitCast(words, low)));
  }
  template <class D, class V>
  static HWY_INLINE Updated<D> add(D d, const UpdateBlock& block, std::size_t i, V old, V change,
                                   Pass pass) {
    const Words<D> words;
    const V sum = hn::Add(old, change);
    const V weight = round_ties_away(d, sum);
    if (pass == Pass::write) {
      store_bf16(d, weight, block.weight, i);
      store_halves(d, hn::And(hn::BitCast(words, sum), hn::Set(words, 0xffffU)),
                   static_cast<std::uint16_t*>(block.master) + i);
    }
    return {sum, weight, hn::Eq(sum, old)};
  }
};

struct Bf16Weights {
  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const UpdateBlock& block, std::size_t i) {
    return load_bf16(d, static_cast<const std::uint16_t*>(block.weight) + i);
  }
};

// The remainder c is what the weight still lacks: y = change + c, s = round(w + y),
// c' = round(y - (s - w)). P. Zamirai et al., arXiv 2010.06192, alg. 2 (with c of the other sign).
struct KahanPair : Bf16Weights {
  template <class D, class V>
  static HWY_INLINE Updated<D> add(D d, const UpdateBlock& block, std::size_t i, V old, V change,
                                   Pass pass) {
    const V remainder = load_bf16(d, static_cast<const std::uint16_t*>(block.master) + i);
    const V wanted = hn::Add(change, remainder);
    const V exact = hn::Add(old, wanted);
    const V weight = round_ties_to_even(d, exact);
    const V left = round_ties_to_even(d, hn::Sub(wanted, hn::Sub(weight, old)));
    if (pass == Pass::write) {
      store_bf16(d, weight, block.weight, i);
      store_bf16(d, left, block.master, i);
    }
    return {exact, weight, hn::And(hn::Eq(weight, old), hn::Eq(left, remainder))};
  }
};

// Adds 16 random bits below the bf16's last and cuts: away from zero with probability (lower half)
// / 2^16, so the mean over draws is the fp32 sum.
struct StochasticRounding : Bf16Weights {
  template <class D, class V>
  static HWY_INLINE Updated<D> add(D d, const UpdateBlock& block, std::size_t i, V old, V change,
                                   Pass pass) {
    const Words<D> words;
    const V exact = hn::Add(old, change);
    const auto random = hn::ShiftRight<16>(hn::LoadU(words, block.random + i));
    const V weight = hn::BitCast(d, cut(d, hn::Add(hn::BitCast(words, exact), random)));
    if (pass == Pass::write) store_bf16(d, weight, block.weight, i);
    return {exact, weight, hn::Eq(weight, old)};
  }
};

struct NearestRounding : Bf16Weights {
  template <class D, class V>
  static HWY_INLINE Updated<D> add(D d, const UpdateBlock& block, std::size_t i, V old, V change,
                                   Pass pass) {
    const V exact = hn::Add(old, change);
    const V weight = round_ties_to_even(d, exact);
    if (pass == Pass::write) store_bf16(d, weight, block.weight, i);
    return {exact, weight, hn::Eq(weight, old)};
  }
};

}  // namespace fourhold::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per target
