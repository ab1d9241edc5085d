// The model of PyTorch's caching allocator: each rule by a trace worked out by hand, and all of
// them together against a second model that keeps plain lists and no pointers.
#include "fourhold/predict/caching_allocator.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace fourhold::predict {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

TEST(CachingAllocator, RoundsSizesUpTo512Bytes) {
  CachingAllocator allocator;
  EXPECT_EQ(allocator.size_of(allocator.allocate(1)), 512);
  EXPECT_EQ(allocator.size_of(allocator.allocate(512)), 512);
  EXPECT_EQ(allocator.size_of(allocator.allocate(513)), 1024);
  EXPECT_EQ(allocator.allocated_bytes(), 2048);
  EXPECT_EQ(allocator.reserved_bytes(), 2 * kMiB);  // all from one small segment
}

// The sizes that the documentation of torch's allocator names: 2 MiB for small requests, 20 MiB for
// those between 1 and 10 MiB, multiples of 2 MiB above.
TEST(CachingAllocator, ReservesSegmentsByTheSizeOfTheRequest) {
  const auto reserved_for = [](std::int64_t bytes) {
    CachingAllocator allocator;
    static_cast<void>(allocator.allocate(bytes));
    return allocator.reserved_bytes();
  };
  EXPECT_EQ(reserved_for(1), 2 * kMiB);
  EXPECT_EQ(reserved_for(kMiB), 2 * kMiB);
  EXPECT_EQ(reserved_for(kMiB + 1), 20 * kMiB);
  EXPECT_EQ(reserved_for(10 * kMiB - 512), 20 * kMiB);
  EXPECT_EQ(reserved_for(10 * kMiB), 10 * kMiB);
  EXPECT_EQ(reserved_for(10 * kMiB + 1), 12 * kMiB);
  EXPECT_EQ(reserved_for(27 * kMiB), 28 * kMiB);
}

// 1 KiB and 5 MiB: a small and a large segment, 22 MiB for 5 MiB and 1 KiB.
TEST(CachingAllocator, KeepsSmallAndLargeRequestsApart) {
  CachingAllocator allocator;
  static_cast<void>(allocator.allocate(1024));
  static_cast<void>(allocator.allocate(5 * kMiB));
  EXPECT_EQ(allocator.allocated_bytes(), 1024 + 5 * kMiB);
  EXPECT_EQ(allocator.reserved_bytes(), 22 * kMiB);
}

TEST(CachingAllocator, SplitsLargeBlocksOnlyWhereMoreThanOneMebibyteRemains) {
  CachingAllocator allocator;
  allocator.release(allocator.allocate(12 * kMiB));
  // 11 MiB of 12: 1 MiB would remain, so the whole block is handed out.
  const CachingAllocator::Block whole = allocator.allocate(11 * kMiB);
  EXPECT_EQ(allocator.size_of(whole), 12 * kMiB);
  EXPECT_EQ(allocator.allocated_bytes(), 12 * kMiB);
  allocator.release(whole);
  // 512 bytes less: what remains is more than 1 MiB and is split off.
  EXPECT_EQ(allocator.size_of(allocator.allocate(11 * kMiB - 512)), 11 * kMiB - 512);
  EXPECT_EQ(allocator.reserved_bytes(), 12 * kMiB);
}

TEST(CachingAllocator, SplitsSmallBlocksDownTo512Bytes) {
  CachingAllocator allocator;
  static_cast<void>(allocator.allocate(kMiB));
  static_cast<void>(allocator.allocate(kMiB - 512));
  EXPECT_EQ(allocator.size_of(allocator.allocate(512)), 512);
  EXPECT_EQ(allocator.reserved_bytes(), 2 * kMiB);
  static_cast<void>(allocator.allocate(1));  // the segment is full
  EXPECT_EQ(allocator.reserved_bytes(), 4 * kMiB);
}

TEST(CachingAllocator, TakesTheSmallestBlockThatIsLargeEnough) {
  CachingAllocator allocator;
  const CachingAllocator::Block large = allocator.allocate(64 * kMiB);
  const CachingAllocator::Block middle = allocator.allocate(32 * kMiB);
  const CachingAllocator::Block small = allocator.allocate(16 * kMiB);
  const std::int64_t where = allocator.address_of(middle);
  allocator.release(large);
  allocator.release(middle);
  allocator.release(small);
  EXPECT_EQ(allocator.address_of(allocator.allocate(20 * kMiB)), where);
  EXPECT_EQ(allocator.reserved_bytes(), 112 * kMiB);
}

TEST(CachingAllocator, OfEqualBlocksTakesTheLowest) {
  CachingAllocator allocator;
  const CachingAllocator::Block first = allocator.allocate(16 * kMiB);
  const CachingAllocator::Block second = allocator.allocate(16 * kMiB);
  const std::int64_t lowest = allocator.address_of(first);
  allocator.release(second);
  allocator.release(first);
  EXPECT_EQ(allocator.address_of(allocator.allocate(16 * kMiB)), lowest);
}

// Three blocks of 5 MiB in one segment of 20: released in any order they are one block again, and
// 20 MiB less one block is not enough for 12 before the middle one has gone.
TEST(CachingAllocator, JoinsFreeNeighboursWithinASegment) {
  CachingAllocator allocator;
  const CachingAllocator::Block a = allocator.allocate(5 * kMiB);
  const CachingAllocator::Block b = allocator.allocate(5 * kMiB);
  const CachingAllocator::Block c = allocator.allocate(5 * kMiB);
  allocator.release(a);
  allocator.release(c);  // joins the last 5 MiB
  const CachingAllocator::Block apart = allocator.allocate(12 * kMiB);
  EXPECT_EQ(allocator.reserved_bytes(), 32 * kMiB);
  allocator.release(apart);
  allocator.release(b);
  static_cast<void>(allocator.allocate(20 * kMiB));
  EXPECT_EQ(allocator.reserved_bytes(), 32 * kMiB);
}

// Two segments of 16 MiB are free and stay two: 32 MiB need a segment of their own.
TEST(CachingAllocator, DoesNotJoinSegments) {
  CachingAllocator allocator;
  const CachingAllocator::Block first = allocator.allocate(16 * kMiB);
  const CachingAllocator::Block second = allocator.allocate(16 * kMiB);
  allocator.release(first);
  allocator.release(second);
  static_cast<void>(allocator.allocate(32 * kMiB));
  EXPECT_EQ(allocator.reserved_bytes(), 64 * kMiB);
}

TEST(CachingAllocator, GivesFreeSegmentsBackWhereTheDeviceIsFull) {
  CachingAllocator allocator(64 * kMiB);
  const CachingAllocator::Block kept = allocator.allocate(16 * kMiB);
  allocator.release(allocator.allocate(32 * kMiB));
  // 48 MiB are reserved: 40 more do not fit before the 32 have gone back.
  EXPECT_NE(allocator.allocate(40 * kMiB), CachingAllocator::kOutOfMemory);
  EXPECT_EQ(allocator.flushes(), 1);
  EXPECT_EQ(allocator.reserved_bytes(), 56 * kMiB);
  EXPECT_EQ(allocator.reserved_peak_bytes(), 56 * kMiB);
  EXPECT_EQ(allocator.allocated_bytes(), 56 * kMiB);
  allocator.release(kept);
}

// A segment with one block in use cannot go back, however small the block.
TEST(CachingAllocator, RunsOutWhereSegmentsAreHeldByTheirParts) {
  CachingAllocator allocator(64 * kMiB);
  allocator.release(allocator.allocate(40 * kMiB));
  const CachingAllocator::Block part = allocator.allocate(11 * kMiB);  // of the 40
  EXPECT_EQ(allocator.allocate(30 * kMiB), CachingAllocator::kOutOfMemory);
  EXPECT_EQ(allocator.allocated_bytes(), 11 * kMiB);
  EXPECT_EQ(allocator.flushes(), 1);
  allocator.release(part);
  EXPECT_NE(allocator.allocate(30 * kMiB), CachingAllocator::kOutOfMemory);
}

TEST(CachingAllocator, DeferredReleasesAreReusedAfterTheirWorkIsDone) {
  CachingAllocator allocator;
  const CachingAllocator::Block first = allocator.allocate(16 * kMiB);
  allocator.release_deferred(first, 1);
  EXPECT_EQ(allocator.allocated_bytes(), 0);  // its owner has let go
  static_cast<void>(allocator.allocate(16 * kMiB));
  EXPECT_EQ(allocator.reserved_bytes(), 32 * kMiB);
  allocator.complete();
  static_cast<void>(allocator.allocate(16 * kMiB));
  EXPECT_EQ(allocator.reserved_bytes(), 32 * kMiB);
}

TEST(CachingAllocator, DeferredReleasesAreReusedInTheOrderOfTheirLaunches) {
  CachingAllocator allocator;
  const CachingAllocator::Block first = allocator.allocate(16 * kMiB);
  const CachingAllocator::Block second = allocator.allocate(16 * kMiB);
  allocator.release_deferred(first, 3);
  allocator.release_deferred(second, 5);
  allocator.complete_up_to(2);
  static_cast<void>(allocator.allocate(16 * kMiB));
  EXPECT_EQ(allocator.reserved_bytes(), 48 * kMiB);
  allocator.complete_up_to(4);
  static_cast<void>(allocator.allocate(16 * kMiB));
  EXPECT_EQ(allocator.reserved_bytes(), 48 * kMiB);
  static_cast<void>(allocator.allocate(16 * kMiB));
  EXPECT_EQ(allocator.reserved_bytes(), 64 * kMiB);
}

TEST(CachingAllocator, WaitsForDeferredReleasesBeforeItRunsOut) {
  CachingAllocator allocator(16 * kMiB);
  allocator.release_deferred(allocator.allocate(16 * kMiB), 1);
  EXPECT_NE(allocator.allocate(16 * kMiB), CachingAllocator::kOutOfMemory);
  EXPECT_EQ(allocator.flushes(), 1);
}

// The same rules over plain intervals: every question is a search through all of them.
class IntervalModel {
 public:
  explicit IntervalModel(std::int64_t capacity) : capacity_(capacity) {}

  struct Interval {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t segment = 0;
    char use = 'f';  // f(ree), o(wned), p(ending)
    [[nodiscard]] std::int64_t size() const { return end - begin; }
  };

  std::optional<std::int64_t> allocate(std::int64_t bytes) {
    std::int64_t size = 512;
    while (size < bytes) size += 512;
    const bool small = size <= 1048576;
    std::optional<std::size_t> best = smallest(size, small);
    if (!best) best = reserve(size, small);
    if (!best) {
      flush();
      best = reserve(size, small);
    }
    if (!best) return std::nullopt;
    const Interval found = all_[*best];
    const std::int64_t rest = found.size() - size;
    all_[*best].use = 'o';
    if (small ? rest >= 512 : rest > 1048576) {
      all_[*best].end = found.begin + size;
      all_.push_back({found.begin + size, found.end, found.segment, 'f'});
    }
    return found.begin;
  }
  void release(std::int64_t begin, char use) {
    for (Interval& one : all_) {
      if (one.begin == begin) one.use = use;
    }
    merge();
  }
  void complete() {
    for (Interval& one : all_) {
      if (one.use == 'p') one.use = 'f';
    }
    merge();
  }
  [[nodiscard]] std::int64_t reserved() const {
    std::int64_t sum = 0;
    for (const Interval& one : all_) sum += one.size();
    return sum;
  }
  [[nodiscard]] std::int64_t owned() const {
    std::int64_t sum = 0;
    for (const Interval& one : all_) sum += one.use == 'o' ? one.size() : 0;
    return sum;
  }

 private:
  std::optional<std::size_t> smallest(std::int64_t size, bool small) const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const Interval& one = all_[i];
      if (one.use != 'f' || one.size() < size || small_.at(one.segment) != small) continue;
      if (!best || one.size() < all_[*best].size() ||
          (one.size() == all_[*best].size() && one.begin < all_[*best].begin)) {
        best = i;
      }
    }
    return best;
  }
  std::optional<std::size_t> reserve(std::int64_t size, bool small) {
    std::int64_t segment = 2097152;
    if (!small && size < 10485760) segment = 20971520;
    if (!small && size >= 10485760) {
      while (segment < size) segment += 2097152;
    }
    if (reserved() + segment > capacity_) return std::nullopt;
    all_.push_back({next_, next_ + segment, next_, 'f'});
    small_[next_] = small;
    next_ += segment;
    return all_.size() - 1;
  }
  void merge() {
    std::sort(all_.begin(), all_.end(),
              [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    std::vector<Interval> joined;
    for (const Interval& one : all_) {
      const bool joins = !joined.empty() && joined.back().use == 'f' && one.use == 'f' &&
                         joined.back().segment == one.segment;
      if (joins) {
        joined.back().end = one.end;
      } else {
        joined.push_back(one);
      }
    }
    all_ = joined;
  }
  void flush() {
    complete();
    std::map<std::int64_t, int> parts;
    for (const Interval& one : all_) ++parts[one.segment];
    std::vector<Interval> left;
    for (const Interval& one : all_) {
      if (one.use != 'f' || parts[one.segment] > 1) left.push_back(one);
    }
    all_ = left;
  }

  std::int64_t capacity_;
  std::int64_t next_ = 0;
  std::vector<Interval> all_;
  std::map<std::int64_t, bool> small_;  // by segment
};

std::int64_t random_size() {
  const std::int64_t unit =
      *rc::gen::elementOf(std::vector<std::int64_t>{1, 511, 512, 65536, kMiB / 2, kMiB});
  return unit * *rc::gen::inRange<std::int64_t>(1, 33);
}

RC_GTEST_PROP(CachingAllocator, does_what_a_model_of_plain_intervals_does, ()) {
  const std::int64_t capacity = *rc::gen::elementOf(
      std::vector<std::int64_t>{CachingAllocator::kUnlimited, 100 * kMiB, 300 * kMiB});
  CachingAllocator allocator(capacity);
  IntervalModel model(capacity == CachingAllocator::kUnlimited ? std::int64_t{1} << 50 : capacity);
  std::map<std::int64_t, CachingAllocator::Block> owned;  // by address
  std::int64_t peak = 0;
  const auto actions = *rc::gen::container<std::vector<int>>(
      static_cast<std::size_t>(*rc::gen::inRange(1, 120)), rc::gen::inRange(0, 12));
  for (const int action : actions) {
    if (action < 7 || owned.empty()) {
      const std::int64_t bytes = random_size();
      const CachingAllocator::Block block = allocator.allocate(bytes);
      const std::optional<std::int64_t> address = model.allocate(bytes);
      RC_ASSERT((block != CachingAllocator::kOutOfMemory) == address.has_value());
      if (address) {
        RC_ASSERT(allocator.address_of(block) == *address);
        owned[*address] = block;
      }
    } else if (action == 7) {
      allocator.complete();
      model.complete();
    } else {
      const auto chosen =
          std::next(owned.begin(),
                    static_cast<std::ptrdiff_t>(*rc::gen::inRange<std::size_t>(0, owned.size())));
      const bool deferred = action == 8;
      deferred ? allocator.release_deferred(chosen->second, 1) : allocator.release(chosen->second);
      model.release(chosen->first, deferred ? 'p' : 'f');
      owned.erase(chosen);
    }
    peak = std::max(peak, model.reserved());
    RC_ASSERT(allocator.reserved_bytes() == model.reserved());
    RC_ASSERT(allocator.allocated_bytes() == model.owned());
    RC_ASSERT(allocator.reserved_peak_bytes() >= peak);
  }
}

}  // namespace
}  // namespace fourhold::predict
