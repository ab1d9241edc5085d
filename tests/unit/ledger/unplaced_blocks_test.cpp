#include "fourhold/ledger/unplaced_blocks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "tests/unit/ledger/sample_entries.h"

namespace fourhold::ledger {
namespace {

TEST(UnplacedBlocks, TheBestThatFitsIsFound) {
  UnplacedBlocks unplaced({{0, 9, 1}, {2, 5, 1}, {3, 4, 1}}, {0, 2, 1});
  EXPECT_EQ(unplaced.best_within(0, 9), 0);
  EXPECT_EQ(unplaced.best_within(1, 9), 2);
  EXPECT_EQ(unplaced.best_within(4, 9), UnplacedBlocks::kNone);
  EXPECT_EQ(unplaced.best_within(2, 3), UnplacedBlocks::kNone);
}

TEST(UnplacedBlocks, ARemovedBlockIsNotFoundAgain) {
  UnplacedBlocks unplaced({{0, 9, 1}, {2, 5, 1}}, {0, 1});
  unplaced.remove(0);
  EXPECT_EQ(unplaced.best_within(0, 9), 1);
  unplaced.remove(1);
  EXPECT_EQ(unplaced.best_within(0, 9), UnplacedBlocks::kNone);
}

RC_GTEST_PROP(UnplacedBlocks, AgreesWithTryingEveryBlock, ()) {
  std::vector<Block> blocks(static_cast<std::size_t>(random_integer(1, 30)));
  BlockOrder priority;
  std::int32_t ticks = 0;
  for (Block& block : blocks) {
    block.first = static_cast<std::int32_t>(random_integer(0, 15));
    block.last = static_cast<std::int32_t>(random_integer(block.first, 15));
    ticks = std::max(ticks, block.last + 1);
    const std::int64_t at = random_integer(0, static_cast<std::int64_t>(priority.size()));
    priority.insert(priority.begin() + at, static_cast<std::int32_t>(priority.size()));
  }
  UnplacedBlocks unplaced(blocks, priority);
  std::set<std::int32_t> left(priority.begin(), priority.end());
  while (!left.empty()) {
    const auto first = static_cast<std::int32_t>(random_integer(0, ticks - 1));
    const auto last = static_cast<std::int32_t>(random_integer(first, ticks - 1));
    std::int32_t expected = UnplacedBlocks::kNone;
    for (const std::int32_t index : priority) {
      const Block& block = blocks[static_cast<std::size_t>(index)];
      if (left.count(index) == 0 || block.first < first || block.last > last) continue;
      expected = index;
      break;
    }
    RC_ASSERT(unplaced.best_within(first, last) == expected);
    const std::int32_t gone = expected == UnplacedBlocks::kNone ? *left.begin() : expected;
    unplaced.remove(gone);
    left.erase(gone);
  }
}

}  // namespace
}  // namespace fourhold::ledger
