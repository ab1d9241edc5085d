// What the placement heuristics see of an entry: a rectangle in time and addresses.
#pragma once

#include <cstdint>
#include <vector>

namespace fourhold::ledger {

// Time counts ticks, the distinct first steps of all entries in order. Lifetimes that overlap, do
// so at the later one's first step, so ticks keep every overlap and drop the steps between.
struct Block {
  std::int32_t first = 0;  // tick
  std::int32_t last = 0;   // tick, included
  std::int64_t bytes = 0;  // above 0, a multiple of the alignment; guards included

  [[nodiscard]] std::int64_t ticks() const { return std::int64_t{last} - first + 1; }
  // Only compared, so the rounding of large products does no harm; int64 could overflow.
  [[nodiscard]] double area() const {
    return static_cast<double>(ticks()) * static_cast<double>(bytes);
  }
};

// Offsets by index of the block, and the height they need.
struct Stack {
  std::vector<std::int64_t> offsets;
  std::int64_t height = 0;
};

// A permutation of the blocks' indices; the first goes first.
using BlockOrder = std::vector<std::int32_t>;

}  // namespace fourhold::ledger
