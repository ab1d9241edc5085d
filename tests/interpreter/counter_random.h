// Random numbers that depend on what they are for and on nothing else: every split of a run, and
// every recomputation, draws the same ones.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace fourhold::interpreter {

// Mixes the words of a key into 64 random bits (the finaliser of SplitMix64, Steele, Lea and Flood
// 2014, "Fast splittable pseudorandom number generators").
[[nodiscard]] inline std::uint64_t random_bits(std::initializer_list<std::int64_t> key) {
  std::uint64_t state = 0x9e3779b97f4a7c15U;
  for (const std::int64_t word : key) {
    state += static_cast<std::uint64_t>(word) + 0x9e3779b97f4a7c15U;
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9U;
    state = (state ^ (state >> 27)) * 0x94d049bb133111ebU;
    state ^= state >> 31;
  }
  return state;
}

// Uniform in [0, 1).
[[nodiscard]] inline double random_unit(std::initializer_list<std::int64_t> key) {
  return static_cast<double>(random_bits(key) >> 11) * 0x1.0p-53;
}

}  // namespace fourhold::interpreter
