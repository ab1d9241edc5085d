#include "fourhold/ledger/skyline.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace fourhold::ledger {
namespace {

TEST(Skyline, TheFirstOfThePriorityLiesAtTheBottom) {
  const std::vector<Block> blocks{{0, 1, 10}, {0, 1, 20}};
  EXPECT_EQ(fill_skyline(blocks, {0, 1}).offsets, (std::vector<std::int64_t>{0, 10}));
  EXPECT_EQ(fill_skyline(blocks, {1, 0}).offsets, (std::vector<std::int64_t>{20, 0}));
}

TEST(Skyline, ValleysBesideABlockAreFilledFirst) {
  // Over ticks 0 to 4: the 10 in the middle, then 5 left and 7 right of it, then 1 on top of all.
  const std::vector<Block> blocks{{1, 3, 10}, {0, 0, 5}, {4, 4, 7}, {0, 4, 1}};
  const Stack stack = fill_skyline(blocks, {0, 1, 2, 3});
  EXPECT_EQ(stack.offsets, (std::vector<std::int64_t>{0, 0, 0, 10}));
  EXPECT_EQ(stack.height, 11);
}

TEST(Skyline, AValleyTooNarrowForAllIsRaisedToItsLowerWall) {
  // Beside the 10 at tick 0 the valley of tick 1 and the 4 at tick 2: the block over ticks 1 and 2
  // fits once the valley is level with the 4.
  const std::vector<Block> blocks{{0, 0, 10}, {2, 2, 4}, {1, 2, 3}};
  const Stack stack = fill_skyline(blocks, {0, 1, 2});
  EXPECT_EQ(stack.offsets, (std::vector<std::int64_t>{0, 0, 4}));
  EXPECT_EQ(stack.height, 10);
}

TEST(Skyline, NestedLivesStackWithoutLoss) {
  // What the backward frees in reverse: 1 + 2 + 4 at the innermost tick.
  const std::vector<Block> blocks{{0, 6, 1}, {1, 5, 2}, {2, 4, 4}};
  const Stack stack = fill_skyline(blocks, {0, 1, 2});
  EXPECT_EQ(stack.offsets, (std::vector<std::int64_t>{0, 1, 3}));
  EXPECT_EQ(stack.height, 7);
}

TEST(Skyline, NoBlocksHaveNoHeight) { EXPECT_EQ(fill_skyline({}, {}).height, 0); }

}  // namespace
}  // namespace fourhold::ledger
