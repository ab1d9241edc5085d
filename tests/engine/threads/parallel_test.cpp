#include "fourhold/engine/threads/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <vector>

namespace fourhold::engine {
namespace {

TEST(Parallel, SharesCoverEveryItemOnceAndDifferByOneAtMost) {
  for (const std::int64_t count : {0, 1, 2, 7, 8, 9, 1000}) {
    for (const int threads : {1, 2, 3, 8}) {
      std::int64_t next = 0;
      for (int worker = 0; worker < threads; ++worker) {
        const Share share = share_of(count, threads, worker);
        EXPECT_EQ(share.begin, next);
        EXPECT_GE(share.end - share.begin, count / threads);
        EXPECT_LE(share.end - share.begin, count / threads + 1);
        next = share.end;
      }
      EXPECT_EQ(next, count);
    }
  }
}

TEST(Parallel, EveryItemIsDoneOnceAlsoWithMoreThreadsThanCores) {
  std::vector<std::atomic<int>> times(1003);
  parallel_for(1003, 16, [&](const Share& share) {
    for (std::int64_t i = share.begin; i < share.end; ++i) ++times[static_cast<std::size_t>(i)];
  });
  for (const auto& count : times) EXPECT_EQ(count.load(), 1);
}

TEST(Parallel, ANestedRegionStillDoesEveryShare) {
  std::atomic<int> done = 0;
  on_each_worker(2, [&](int) {
    parallel_for(10, 4,
                 [&](const Share& share) { done += static_cast<int>(share.end - share.begin); });
  });
  EXPECT_EQ(done.load(), 20);
}

}  // namespace
}  // namespace fourhold::engine
