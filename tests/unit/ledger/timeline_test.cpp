#include "fourhold/ledger/timeline.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fourhold/base/error.h"
#include "tests/unit/ledger/sample_entries.h"

namespace fourhold::ledger {
namespace {

// Step by step: w 100, w + x 107, w + x + y 118, w + y 111, w 100.
std::vector<Entry> five_steps() {
  return {sample("w", 100, 0, 4, Category::weight),
          sample("x", 7, 1, 2, Category::saved_activation), sample("y", 11, 2, 3)};
}

std::string fault_of(const std::vector<Entry>& entries) {
  try {
    static_cast<void>(timeline_of(entries));
  } catch (const Error& error) {
    return error.where() + " | " + error.what() + " | " + error.hint();
  }
  return "no fault";
}

TEST(Timeline, BothEndsOfALifetimeCount) {
  const Timeline timeline = timeline_of(five_steps());
  EXPECT_EQ(timeline.live_at(-1), Bytes(0));
  EXPECT_EQ(timeline.live_at(0), Bytes(100));
  EXPECT_EQ(timeline.live_at(1), Bytes(107));
  EXPECT_EQ(timeline.live_at(2), Bytes(118));
  EXPECT_EQ(timeline.live_at(3), Bytes(111));
  EXPECT_EQ(timeline.live_at(4), Bytes(100));
  EXPECT_EQ(timeline.live_at(5), Bytes(0));
  EXPECT_EQ(timeline.peak_bytes, Bytes(118));
  EXPECT_EQ(timeline.peak_step, 2);
}

TEST(Timeline, OnlyChangesAreKept) {
  // y takes over from x with the same size, so step 1 changes nothing.
  const std::vector<Entry> entries{sample("x", 7, 0, 0), sample("y", 7, 1, 1000000)};
  const std::vector<LiveChange> expected{{0, Bytes(7)}, {1000001, Bytes(0)}};
  EXPECT_EQ(timeline_of(entries).changes, expected);
}

TEST(Timeline, OfEqualPeaksTheFirstIsTheLivePeak) {
  EXPECT_EQ(timeline_of({sample("x", 9, 3, 3), sample("y", 9, 7, 7)}).peak_step, 3);
}

TEST(Timeline, NothingAliveHasNoChangesAndNoPeak) {
  Entry host = sample("h", 5, 0, 3);
  host.place = Place::host;
  const Timeline timeline = timeline_of({host, sample("empty", 0, 0, 3)});
  EXPECT_TRUE(timeline.changes.empty());
  EXPECT_EQ(timeline.peak_bytes, Bytes(0));
  EXPECT_EQ(timeline.live_at(0), Bytes(0));
}

TEST(Timeline, ThePeakIsBookedInTheLedger) {
  Ledger ledger;
  ledger.entries = five_steps();
  ledger.entries.push_back(sample("late", 50, 4, 4));
  ledger.entries.push_back(sample("offloaded", 1000, 0, 9));
  ledger.entries.back().place = Place::host;
  // Step 4 holds w and late: 150 are more than the 118 of step 2.
  EXPECT_EQ(mark_peak(ledger).peak_step, 4);
  EXPECT_EQ(ledger.live_peak_bytes, Bytes(150));
  EXPECT_EQ(ledger.entries[0].copies_at_peak, 1);
  EXPECT_EQ(ledger.entries[1].copies_at_peak, 0);
  EXPECT_EQ(ledger.entries[2].copies_at_peak, 0);
  EXPECT_EQ(ledger.entries[3].copies_at_peak, 1);
  EXPECT_EQ(ledger.entries[4].copies_at_peak, 1);
  const CategoryBytes bytes = ledger.at_peak_by_category();
  EXPECT_EQ(bytes[static_cast<std::size_t>(Category::weight)], Bytes(100));
  EXPECT_EQ(bytes[static_cast<std::size_t>(Category::other)], Bytes(50));
}

TEST(Timeline, AnyStepCanBeSplitByCategory) {
  const CategoryBytes bytes = live_by_category(five_steps(), 2);
  EXPECT_EQ(bytes[static_cast<std::size_t>(Category::weight)], Bytes(100));
  EXPECT_EQ(bytes[static_cast<std::size_t>(Category::saved_activation)], Bytes(7));
  EXPECT_EQ(bytes[static_cast<std::size_t>(Category::other)], Bytes(11));
}

TEST(Timeline, EntriesThatAreNotExpandedAreRefused) {
  std::vector<Entry> entries = five_steps();
  entries[1].copies = 12;
  EXPECT_EQ(fault_of(entries),
            "step.x | stands for 12 copies, so its steps are not absolute | "
            "use the expanded form of the ledger, one entry per tensor");
  entries = {sample("x", 7, 3, 2)};
  EXPECT_EQ(fault_of(entries),
            "step.x | is alive from step 3 to 2 | the last step must not be before the first");
  entries = {sample("x", -7, 2, 3)};
  EXPECT_EQ(fault_of(entries), "step.x | has -7 bytes | use 0 or more");
}

TEST(Timeline, BytesAliveBeyond64BitsAreRefused) {
  EXPECT_EQ(fault_of({sample("x", 1LL << 62, 0, 1), sample("y", 1LL << 62, 1, 2)}),
            "size | a sum of sizes leaves the 64-bit range | use smaller dimensions");
  EXPECT_EQ(fault_of({sample("x", 1LL << 62, 0, 1), sample("y", 1LL << 62, 2, 2)}), "no fault");
}

RC_GTEST_PROP(Timeline, TheSweepAgreesWithCountingEveryStep, ()) {
  Ledger ledger;
  ledger.entries = random_entries();
  const Timeline timeline = mark_peak(ledger);
  Bytes peak;
  std::int64_t peak_step = 0;
  for (std::int64_t step = -1; step <= 42; ++step) {
    Bytes live;
    for (const Entry& entry : ledger.entries) {
      if (entry.place != Place::device) continue;
      if (entry.first_step <= step && step <= entry.last_step) live += entry.bytes;
    }
    RC_ASSERT(timeline.live_at(step) == live);
    Bytes by_category;
    for (const Bytes bytes : live_by_category(ledger.entries, step)) by_category += bytes;
    RC_ASSERT(by_category == live);
    if (live > peak) peak_step = step;
    peak = std::max(peak, live);
  }
  RC_ASSERT(timeline.peak_bytes == peak);
  RC_ASSERT(timeline.peak_step == peak_step);
  Bytes at_peak;
  for (const Bytes bytes : ledger.at_peak_by_category()) at_peak += bytes;
  RC_ASSERT(at_peak == peak);
  RC_ASSERT(ledger.live_peak_bytes == peak);
}

}  // namespace
}  // namespace fourhold::ledger
