// Philox4x32-10 for many consecutive counters at once; see counter_random.h.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace fourhold::engine {

// Constants of the paper's table 2 and sec. 4.3 (Weyl sequence of the key).
inline constexpr int kPhiloxRounds = 10;
inline constexpr std::uint32_t kPhiloxMultiplier0 = 0xd2511f53U;
inline constexpr std::uint32_t kPhiloxMultiplier1 = 0xcd9e8d57U;
inline constexpr std::uint32_t kPhiloxWeyl0 = 0x9e3779b9U;
inline constexpr std::uint32_t kPhiloxWeyl1 = 0xbb67ae85U;

// values[4 i + j] = word j of the counter (first_block + i, step); a multiple of four values.
void fill_philox_blocks(std::uint64_t first_block, std::uint64_t step,
                        std::array<std::uint32_t, 2> key, std::span<std::uint32_t> values);

}  // namespace fourhold::engine
