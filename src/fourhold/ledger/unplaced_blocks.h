// The blocks not yet placed, searchable by the lifetime they must fit in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fourhold/ledger/block.h"

namespace fourhold::ledger {

// A segment tree over the blocks sorted by first tick. A node knows the best rank below it and the
// range of last ticks, which is enough to skip or accept nearly every subtree whole.
class UnplacedBlocks {
 public:
  static constexpr std::int32_t kNone = -1;

  // The rank of a block is its position in `priority`; lower is better.
  UnplacedBlocks(const std::vector<Block>& blocks, const BlockOrder& priority);

  // The best block with first >= `first` and last <= `last`, or kNone.
  [[nodiscard]] std::int32_t best_within(std::int32_t first, std::int32_t last) const;
  void remove(std::int32_t block);

 private:
  struct Node {
    std::int32_t best_rank = 0;
    std::int32_t least_last = 0;
    std::int32_t most_last = 0;
    friend bool operator==(const Node&, const Node&) = default;
  };
  static const Node kEmpty;
  static Node joined(const Node& a, const Node& b);
  // Lowers `best_rank` to the best below the node whose block ends in time.
  void search(std::size_t node, std::int32_t last, std::int32_t& best_rank) const;

  BlockOrder priority_;
  std::vector<Node> nodes_;     // nodes_[1] is the root, the leaves begin at leaf_count_
  std::size_t leaf_count_ = 1;  // a power of two
  std::vector<std::size_t> leaf_of_block_;
  std::vector<std::size_t> begin_of_tick_;  // first leaf whose block begins at or after the tick
};

}  // namespace fourhold::ledger
