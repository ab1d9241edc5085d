#include "fourhold/engine/checkpoint/windows.h"

#include <gtest/gtest.h>

#include <vector>

namespace fourhold::engine {
namespace {

using plan::contiguous;
using plan::Slice;
using Windows = std::vector<HeldWindow>;

// A matrix of 4 rows and 10 columns.
Windows of(const std::vector<Slice>& slices) { return windows_of(slices, 10); }

TEST(Windows, WholeRowsAreOne) {
  EXPECT_EQ(of({contiguous(10, 30)}), (Windows{{{1, 3, 0, 10}, 0, 10}}));
}

TEST(Windows, AContiguousPieceHasTheRestOfARowWholeRowsAndAStart) {
  EXPECT_EQ(of({contiguous(7, 34)}),
            (Windows{{{0, 1, 7, 10}, 0, 3}, {{1, 3, 0, 10}, 3, 10}, {{3, 4, 0, 4}, 23, 4}}));
  EXPECT_EQ(of({contiguous(12, 15)}), (Windows{{{1, 2, 2, 5}, 0, 3}}));
}

TEST(Windows, ColumnsAreOneWhoseRowsStandCloser) {
  EXPECT_EQ(of({Slice{14, 3, 10, 3}}), (Windows{{{1, 4, 4, 7}, 0, 3}}));
}

// A piece of columns as ZeRO cuts it: the end of a run, whole runs, the start of one.
TEST(Windows, SlicesStandOneAfterTheOther) {
  EXPECT_EQ(of({contiguous(5, 7), Slice{14, 3, 10, 2}, contiguous(34, 35)}),
            (Windows{{{0, 1, 5, 7}, 0, 2}, {{1, 3, 4, 7}, 2, 3}, {{3, 4, 4, 5}, 8, 1}}));
}

// Rows 0 and 2: runs of rows that are further apart than one row.
TEST(Windows, RunsThatAreNoColumnsStayApart) {
  EXPECT_EQ(of({Slice{0, 10, 20, 2}}), (Windows{{{0, 1, 0, 10}, 0, 10}, {{2, 3, 0, 10}, 10, 10}}));
}

TEST(Windows, AVectorIsAColumn) {
  EXPECT_EQ(windows_of(std::vector<Slice>{contiguous(3, 8)}, 1), (Windows{{{3, 8, 0, 1}, 0, 1}}));
}

}  // namespace
}  // namespace fourhold::engine
