// Compiled once for each instruction set by foreach_target.h; the widest is picked at run time.
#include "fourhold/engine/tensor/philox_fill.h"

#include <cstddef>

// CPUs older than AVX2 (2013) take the portable form.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#define HWY_TARGET_INCLUDE "fourhold/engine/tensor/philox_fill.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
// One lane gains nothing: the caller does every block.
std::size_t fill_blocks(std::uint64_t /*first_block*/, std::uint64_t /*step*/,
                        const std::uint32_t* /*key*/, std::size_t /*blocks*/,
                        std::uint32_t* /*values*/) {
  return 0;
}
#else
template <class V>
struct Product {
  V high;
  V low;
};

// The 64-bit products of 32-bit lanes.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Product<V> multiply(D d, V values, V factor) {
  const hn::Repartition<std::uint64_t, D> wide;
  const auto even = hn::MulEven(values, factor);
  const auto odd =
      hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, values))), factor);
  const V high_of_even = hn::BitCast(d, hn::ShiftRight<32>(even));
  const V low_of_odd = hn::BitCast(d, hn::ShiftLeft<32>(odd));
  return {hn::OddEven(hn::BitCast(d, odd), high_of_even),
          hn::OddEven(low_of_odd, hn::BitCast(d, even))};
}

// As many blocks as a vector has lanes, at a time. Returns how many blocks were done.
std::size_t fill_blocks(std::uint64_t first_block, std::uint64_t step, const std::uint32_t* key,
                        std::size_t blocks, std::uint32_t* values) {
  const hn::ScalableTag<std::uint32_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto multiplier0 = hn::Set(d, kPhiloxMultiplier0);
  const auto multiplier1 = hn::Set(d, kPhiloxMultiplier1);
  std::size_t block = 0;
  for (; block + lanes <= blocks; block += lanes) {
    const std::uint64_t first = first_block + block;
    // A vector whose lower words wrap is left to the caller: once in 2^32 blocks.
    if (static_cast<std::uint32_t>(first) > 0xffffffffU - lanes) break;
    auto c0 = hn::Iota(d, static_cast<std::uint32_t>(first));
    auto c1 = hn::Set(d, static_cast<std::uint32_t>(first >> 32));
    auto c2 = hn::Set(d, static_cast<std::uint32_t>(step));
    auto c3 = hn::Set(d, static_cast<std::uint32_t>(step >> 32));
    std::uint32_t key0 = key[0];
    std::uint32_t key1 = key[1];
    for (int round = 0; round < kPhiloxRounds; ++round) {
      const auto product0 = multiply(d, c0, multiplier0);
      const auto product1 = multiply(d, c2, multiplier1);
      c0 = hn::Xor(hn::Xor(product1.high, c1), hn::Set(d, key0));
      c1 = product1.low;
      c2 = hn::Xor(hn::Xor(product0.high, c3), hn::Set(d, key1));
      c3 = product0.low;
      key0 += kPhiloxWeyl0;
      key1 += kPhiloxWeyl1;
    }
    hn::StoreInterleaved4(c0, c1, c2, c3, d, values + 4 * block);
  }
  return block;
}
#endif  // HWY_SCALAR

}  // namespace fourhold::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "fourhold/engine/tensor/counter_random.h"

namespace fourhold::engine {
namespace {
HWY_EXPORT(fill_blocks);
}  // namespace

void fill_philox_blocks(std::uint64_t first_block, std::uint64_t step,
                        std::array<std::uint32_t, 2> key, std::span<std::uint32_t> values) {
  const std::size_t blocks = values.size() / 4;
  std::size_t done = 0;
  while (done < blocks) {
    done += HWY_DYNAMIC_DISPATCH(fill_blocks)(first_block + done, step, key.data(), blocks - done,
                                              values.data() + 4 * done);
    if (done == blocks) break;
    const std::uint64_t block = first_block + done;
    const auto words =
        philox4x32({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                    static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32)},
                   key);
    for (std::size_t word = 0; word < 4; ++word) values[4 * done + word] = words[word];
    ++done;
  }
}

}  // namespace fourhold::engine
#endif  // HWY_ONCE
