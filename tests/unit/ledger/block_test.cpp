#include "fourhold/ledger/block.h"

#include <gtest/gtest.h>

namespace fourhold::ledger {
namespace {

TEST(Block, BothEndsOfItsLifeCount) {
  const Block block{.first = 3, .last = 5, .bytes = 10};
  EXPECT_EQ(block.ticks(), 3);
  EXPECT_EQ(block.area(), 30.0);
}

TEST(Block, TheAreaOfALargeBlockDoesNotOverflow) {
  const Block block{.first = 0, .last = 1023, .bytes = std::int64_t{1} << 60};
  EXPECT_EQ(block.area(), 0x1p70);
}

}  // namespace
}  // namespace fourhold::ledger
