// Sums whose order depends on the number of addends alone, whatever the number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "fourhold/engine/threads/parallel.h"

namespace fourhold::engine {

// The sum over `count` items: they are cut into at most kSumBlocks blocks of equal size,
// block(begin, end) gives the sum of one, and blocks are added in their order.
inline constexpr std::int64_t kSumBlocks = 512;

template <class Block>
[[nodiscard]] double fixed_sum(std::int64_t count, int threads, const Block& block) {
  if (count == 0) return 0;
  const std::int64_t size = (count + kSumBlocks - 1) / kSumBlocks;
  const std::int64_t blocks = (count + size - 1) / size;
  std::array<double, static_cast<std::size_t>(kSumBlocks)> sums;
  parallel_for(blocks, threads, [&](const Share& share) {
    for (std::int64_t i = share.begin; i < share.end; ++i) {
      sums[static_cast<std::size_t>(i)] = block(i * size, std::min((i + 1) * size, count));
    }
  });
  double total = 0;
  for (std::int64_t i = 0; i < blocks; ++i) total += sums[static_cast<std::size_t>(i)];
  return total;
}

}  // namespace fourhold::engine
