// The tile operations of AMX, as what AmxKernel is written over. Tests put an emulation in its
// place.
//
// Eight tiles of 16 rows by 64 bytes: 0 to 3 hold sums (row half x 2 + column half), 4 and 5 the
// left operand, 6 and 7 the right one. In memory a tile of operands is 1 KiB without gaps.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace fourhold::engine {

inline constexpr int kTileRows = 16;
inline constexpr int kTileBytes = 1024;

struct HardwareTiles {
  // The configuration belongs to a thread. It is released at the end of the parallel region, so
  // that context switches stay cheap and libraries find the tiles free.
  class Session {
   public:
    [[gnu::target("amx-tile")]] Session() {
      struct alignas(64) Configuration {
        std::uint8_t palette = 1;
        std::uint8_t start_row = 0;
        std::uint8_t reserved[14] = {};
        std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
        std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
      };
      static_assert(sizeof(Configuration) == 64);
      const Configuration configuration;
      _tile_loadconfig(&configuration);
    }
    [[gnu::target("amx-tile")]] ~Session() { _tile_release(); }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
  };

  // The intrinsics name tiles by literal numbers only.
  template <int kSum>
  [[gnu::target("amx-tile"), gnu::always_inline]] inline void zero() {
    static_assert(kSum >= 0 && kSum < 4);
    if constexpr (kSum == 0) _tile_zero(0);
    if constexpr (kSum == 1) _tile_zero(1);
    if constexpr (kSum == 2) _tile_zero(2);
    if constexpr (kSum == 3) _tile_zero(3);
  }
  template <int kTile>
  [[gnu::target("amx-tile"), gnu::always_inline]] inline void load(const void* from,
                                                                   std::size_t stride) {
    static_assert(kTile >= 0 && kTile < 8);
    if constexpr (kTile == 0) _tile_loadd(0, from, stride);
    if constexpr (kTile == 1) _tile_loadd(1, from, stride);
    if constexpr (kTile == 2) _tile_loadd(2, from, stride);
    if constexpr (kTile == 3) _tile_loadd(3, from, stride);
    if constexpr (kTile == 4) _tile_loadd(4, from, stride);
    if constexpr (kTile == 5) _tile_loadd(5, from, stride);
    if constexpr (kTile == 6) _tile_loadd(6, from, stride);
    if constexpr (kTile == 7) _tile_loadd(7, from, stride);
  }
  template <int kSum>
  [[gnu::target("amx-tile"), gnu::always_inline]] inline void store(void* to, std::size_t stride) {
    static_assert(kSum >= 0 && kSum < 4);
    if constexpr (kSum == 0) _tile_stored(0, to, stride);
    if constexpr (kSum == 1) _tile_stored(1, to, stride);
    if constexpr (kSum == 2) _tile_stored(2, to, stride);
    if constexpr (kSum == 3) _tile_stored(3, to, stride);
  }
  // sum [16, 16] += left [16 rows, 16 pairs] x right [16 pairs, 16 columns], halves 0 or 1 of each.
  template <int kRowHalf, int kColumnHalf>
  [[gnu::target("amx-tile,amx-bf16"), gnu::always_inline]] inline void multiply() {
    if constexpr (kRowHalf == 0 && kColumnHalf == 0) _tile_dpbf16ps(0, 4, 6);
    if constexpr (kRowHalf == 0 && kColumnHalf == 1) _tile_dpbf16ps(1, 4, 7);
    if constexpr (kRowHalf == 1 && kColumnHalf == 0) _tile_dpbf16ps(2, 5, 6);
    if constexpr (kRowHalf == 1 && kColumnHalf == 1) _tile_dpbf16ps(3, 5, 7);
  }
};

}  // namespace fourhold::engine
