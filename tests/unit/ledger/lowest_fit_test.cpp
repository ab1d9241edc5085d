#include "fourhold/ledger/lowest_fit.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace fourhold::ledger {
namespace {

// a is always alive, b leaves before d comes.
const std::vector<Block> kBlocks{{0, 9, 10}, {0, 4, 20}, {0, 9, 30}, {5, 9, 15}};

TEST(LowestFit, ABlockGoesIntoTheLowestGapThatHoldsIt) {
  const Stack stack = lowest_fit(kBlocks, {0, 1, 2, 3});
  // The 15 of the last lie where the 20 of the second were, above the 10.
  EXPECT_EQ(stack.offsets, (std::vector<std::int64_t>{0, 10, 30, 10}));
  EXPECT_EQ(stack.height, 60);
}

TEST(LowestFit, TheOrderDecides) {
  const Stack stack = lowest_fit(kBlocks, {3, 2, 1, 0});
  // 15, then 30 above it; 20 fits neither below nor beside them; 10 must clear all three.
  EXPECT_EQ(stack.offsets, (std::vector<std::int64_t>{65, 45, 15, 0}));
  EXPECT_EQ(stack.height, 75);
}

TEST(LowestFit, NoBlocksHaveNoHeight) { EXPECT_EQ(lowest_fit({}, {}).height, 0); }

}  // namespace
}  // namespace fourhold::ledger
