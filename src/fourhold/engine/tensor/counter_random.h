// Random numbers by their index: what element i of a tensor draws depends on nothing but
// (seed, stream, step, i), so every split of the work draws the same.
//
// Philox4x32-10, J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2,
// 3", SC11, sec. 3.3 and 4.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace fourhold::engine {

// Ten rounds over the four counter words.
[[nodiscard]] std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                                      std::array<std::uint32_t, 2> key);

// One stream of numbers, named after what draws them (a tensor). The key is a hash of seed and
// name; the counter is the index and the step.
class CounterRandom {
 public:
  // `step` below 2^63: the highest bit tells normal from uniform numbers.
  CounterRandom(std::uint64_t seed, std::string_view stream, std::uint64_t step = 0);

  // Every 32-bit value alike.
  [[nodiscard]] std::uint32_t uniform32(std::uint64_t index) const;
  // uniform32 of first_index, first_index + 1 ...
  void fill_uniform32(std::uint64_t first_index, std::span<std::uint32_t> values) const;

  // Mean 0, variance 1, by Box-Muller (G. Box, M. Muller, Ann. Math. Stat. 29, 1958) in double from
  // two 32-bit values of one counter: |result| is at most sqrt(66 ln 2) = 6.77.
  [[nodiscard]] float normal(std::uint64_t index) const;

 private:
  std::array<std::uint32_t, 2> key_{};
  std::uint64_t step_ = 0;
};

}  // namespace fourhold::engine
