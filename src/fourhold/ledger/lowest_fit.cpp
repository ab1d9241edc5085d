#include "fourhold/ledger/lowest_fit.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fourhold::ledger {
namespace {

// A placed block. Kept whole in one array, in ascending offset: the scan reads it front to back.
struct Placed {
  std::int32_t first = 0;
  std::int32_t last = 0;
  std::int64_t offset = 0;
  std::int64_t end = 0;
};

}  // namespace

Stack lowest_fit(const std::vector<Block>& blocks, const BlockOrder& order) {
  Stack stack;
  stack.offsets.resize(blocks.size());
  std::vector<Placed> placed;
  placed.reserve(blocks.size());
  for (const std::int32_t index : order) {
    const Block& block = blocks[static_cast<std::size_t>(index)];
    std::int64_t offset = 0;
    for (const Placed& other : placed) {
      if (other.first > block.last || other.last < block.first) continue;
      if (other.offset - offset >= block.bytes) break;
      offset = std::max(offset, other.end);
    }
    const auto behind =
        std::upper_bound(placed.begin(), placed.end(), offset,
                         [](std::int64_t value, const Placed& p) { return value < p.offset; });
    placed.insert(behind, {block.first, block.last, offset, offset + block.bytes});
    stack.offsets[static_cast<std::size_t>(index)] = offset;
    stack.height = std::max(stack.height, offset + block.bytes);
  }
  return stack;
}

}  // namespace fourhold::ledger
