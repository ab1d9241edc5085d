// PyTorch's caching allocator with expandable segments: each rule by a trace worked out by hand.
#include <gtest/gtest.h>

#include <cstdint>

#include "fourhold/predict/caching_allocator.h"

namespace fourhold::predict {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

// 30 MiB map two steps of 20, 10 more fill them, 2 more map the next.
TEST(ExpandableSegments, GrowInSteps) {
  CachingAllocator allocator(CachingAllocator::kUnlimited, plan::Segments::expandable);
  static_cast<void>(allocator.allocate(30 * kMiB));
  EXPECT_EQ(allocator.reserved_bytes(), 40 * kMiB);
  static_cast<void>(allocator.allocate(10 * kMiB));
  EXPECT_EQ(allocator.reserved_bytes(), 40 * kMiB);
  static_cast<void>(allocator.allocate(2 * kMiB));
  EXPECT_EQ(allocator.reserved_bytes(), 60 * kMiB);
  static_cast<void>(allocator.allocate(512));
  EXPECT_EQ(allocator.reserved_bytes(), 62 * kMiB);  // small requests have a segment of their own
}

// 16 MiB free in front, 15 at the end, which can grow: 12 MiB go to the front. Then 20 MiB fit
// nowhere, and the 15 at the end grow by one step.
TEST(ExpandableSegments, TakeTheirLastBlockLast) {
  CachingAllocator allocator(CachingAllocator::kUnlimited, plan::Segments::expandable);
  const CachingAllocator::Block front = allocator.allocate(16 * kMiB);
  static_cast<void>(allocator.allocate(4 * kMiB));
  static_cast<void>(allocator.allocate(5 * kMiB));
  EXPECT_EQ(allocator.reserved_bytes(), 40 * kMiB);
  allocator.release(front);
  EXPECT_EQ(allocator.address_of(allocator.allocate(12 * kMiB)), 0);
  EXPECT_EQ(allocator.address_of(allocator.allocate(20 * kMiB)), 25 * kMiB);
  EXPECT_EQ(allocator.reserved_bytes(), 60 * kMiB);
}

// An eager cross entropy in units of the 16-bit logits' half: logits 2, fp32 copy 4 and log-softmax
// 4; the first two are gone when the log-softmax's gradient takes 4 of their 6, and the logits' 4
// find no more than 2. So 14 are reserved where 12 are allocated.
TEST(ExpandableSegments, ReserveFourteenBytesForEachLogitOfAnEagerLoss) {
  constexpr std::int64_t kUnit = 20 * kMiB;
  CachingAllocator allocator(CachingAllocator::kUnlimited, plan::Segments::expandable);
  const CachingAllocator::Block logits = allocator.allocate(2 * kUnit);
  const CachingAllocator::Block wide = allocator.allocate(4 * kUnit);
  const CachingAllocator::Block log_softmax = allocator.allocate(4 * kUnit);
  allocator.release(wide);
  allocator.release(logits);
  const CachingAllocator::Block dense = allocator.allocate(4 * kUnit);
  const CachingAllocator::Block gradient = allocator.allocate(4 * kUnit);
  EXPECT_EQ(allocator.allocated_peak_bytes(), 12 * kUnit);
  EXPECT_EQ(allocator.reserved_bytes(), 14 * kUnit);
  allocator.release(log_softmax);
  allocator.release(dense);
  static_cast<void>(allocator.allocate(2 * kUnit));
  EXPECT_EQ(allocator.reserved_bytes(), 14 * kUnit);
  allocator.release(gradient);
}

TEST(ExpandableSegments, ServeTheirStreamAlone) {
  CachingAllocator allocator(CachingAllocator::kUnlimited, plan::Segments::expandable);
  allocator.release(allocator.allocate(40 * kMiB));
  static_cast<void>(allocator.allocate(40 * kMiB, Stream::gather));
  EXPECT_EQ(allocator.reserved_bytes(), 80 * kMiB);
  static_cast<void>(allocator.allocate(40 * kMiB));
  EXPECT_EQ(allocator.reserved_bytes(), 80 * kMiB);
}

// On a device of 100 MiB: 40 free of 60 are given back for another stream's 60. What was given back
// is mapped again where there is room for it.
TEST(ExpandableSegments, GiveBackWholeStepsOfFreeBlocks) {
  CachingAllocator allocator(100 * kMiB, plan::Segments::expandable);
  const CachingAllocator::Block front = allocator.allocate(40 * kMiB);
  static_cast<void>(allocator.allocate(20 * kMiB));
  allocator.release(front);
  static_cast<void>(allocator.allocate(60 * kMiB, Stream::gather));
  EXPECT_EQ(allocator.flushes(), 1);
  EXPECT_EQ(allocator.reserved_bytes(), 80 * kMiB);
  EXPECT_EQ(allocator.allocate(30 * kMiB), CachingAllocator::kOutOfMemory);
  EXPECT_NE(allocator.allocate(20 * kMiB), CachingAllocator::kOutOfMemory);
  EXPECT_EQ(allocator.reserved_bytes(), 100 * kMiB);
}

}  // namespace
}  // namespace fourhold::predict
