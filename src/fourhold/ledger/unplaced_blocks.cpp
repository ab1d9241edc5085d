#include "fourhold/ledger/unplaced_blocks.h"

#include <algorithm>
#include <limits>

namespace fourhold::ledger {
namespace {

constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();

}  // namespace

const UnplacedBlocks::Node UnplacedBlocks::kEmpty{kNever, kNever, -1};

UnplacedBlocks::Node UnplacedBlocks::joined(const Node& a, const Node& b) {
  return {std::min(a.best_rank, b.best_rank), std::min(a.least_last, b.least_last),
          std::max(a.most_last, b.most_last)};
}

UnplacedBlocks::UnplacedBlocks(const std::vector<Block>& blocks, const BlockOrder& priority)
    : priority_(priority), leaf_of_block_(blocks.size()) {
  while (leaf_count_ < blocks.size()) leaf_count_ *= 2;
  nodes_.assign(2 * leaf_count_, kEmpty);

  // Leaves in order of first ticks, by counting: begin_of_tick_ ends as the running count.
  std::int32_t ticks = 0;
  for (const Block& block : blocks) ticks = std::max(ticks, block.last + 1);
  begin_of_tick_.assign(static_cast<std::size_t>(ticks) + 1, 0);
  for (const Block& block : blocks) ++begin_of_tick_[static_cast<std::size_t>(block.first) + 1];
  for (std::size_t i = 1; i < begin_of_tick_.size(); ++i)
    begin_of_tick_[i] += begin_of_tick_[i - 1];

  std::vector<std::size_t> next = begin_of_tick_;
  for (std::size_t rank = 0; rank < priority_.size(); ++rank) {
    const auto index = static_cast<std::size_t>(priority_[rank]);
    const Block& block = blocks[index];
    const std::size_t leaf = leaf_count_ + next[static_cast<std::size_t>(block.first)]++;
    leaf_of_block_[index] = leaf;
    nodes_[leaf] = {static_cast<std::int32_t>(rank), block.last, block.last};
  }
  for (std::size_t node = leaf_count_ - 1; node >= 1; --node) {
    nodes_[node] = joined(nodes_[2 * node], nodes_[2 * node + 1]);
  }
}

std::int32_t UnplacedBlocks::best_within(std::int32_t first, std::int32_t last) const {
  std::int32_t best_rank = kNever;
  // The fewest nodes that cover the range of leaves, from the leaves up: most valleys are narrow.
  std::size_t begin = leaf_count_ + begin_of_tick_[static_cast<std::size_t>(first)];
  std::size_t end = leaf_count_ + begin_of_tick_[static_cast<std::size_t>(last) + 1];
  for (; begin < end; begin /= 2, end /= 2) {
    if (begin % 2 == 1) search(begin++, last, best_rank);
    if (end % 2 == 1) search(--end, last, best_rank);
  }
  return best_rank == kNever ? kNone : priority_[static_cast<std::size_t>(best_rank)];
}

void UnplacedBlocks::search(std::size_t node, std::int32_t last, std::int32_t& best_rank) const {
  const Node& own = nodes_[node];
  if (own.best_rank >= best_rank || own.least_last > last) return;
  if (own.most_last <= last) {
    best_rank = own.best_rank;
    return;
  }
  // Not a leaf, whose least and most are the same. The more promising half first.
  const std::size_t left = 2 * node;
  const std::size_t better = nodes_[left].best_rank <= nodes_[left + 1].best_rank ? left : left + 1;
  search(better, last, best_rank);
  search(better ^ 1U, last, best_rank);
}

void UnplacedBlocks::remove(std::int32_t block) {
  std::size_t node = leaf_of_block_[static_cast<std::size_t>(block)];
  nodes_[node] = kEmpty;
  for (node /= 2; node >= 1; node /= 2) {
    const Node now = joined(nodes_[2 * node], nodes_[2 * node + 1]);
    if (now == nodes_[node]) return;  // nor does anything change above
    nodes_[node] = now;
  }
}

}  // namespace fourhold::ledger
