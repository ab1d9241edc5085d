#include "fourhold/ledger/placement.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fourhold/base/error.h"
#include "fourhold/ledger/timeline.h"
#include "tests/unit/ledger/sample_entries.h"
#include "tests/unit/ledger/training_program.h"

namespace fourhold::ledger {
namespace {

using Kind = PlacementFault::Kind;

std::string fault_of(const std::vector<Entry>& entries, const PlacementOptions& options = {}) {
  try {
    static_cast<void>(place(entries, options));
  } catch (const Error& error) {
    return error.where() + " | " + error.what() + " | " + error.hint();
  }
  return "no fault";
}

TEST(Placement, EntriesAliveThroughoutLieAtTheBottomInTheirOrder) {
  const Placement placement =
      place({sample("w", 100, 0, 9), sample("x", 10, 3, 4), sample("v", 64, 0, 9)});
  // w takes 0 to 100, so v begins at 128 and x at 192.
  EXPECT_EQ(placement.offsets, (std::vector<std::int64_t>{0, 192, 128}));
  EXPECT_EQ(placement.reserved_bytes, Bytes(202));
}

TEST(Placement, EntriesThatNeverMeetShareTheirBytes) {
  const Placement placement = place({sample("x", 128, 0, 1), sample("y", 64, 2, 3)});
  EXPECT_EQ(placement.offsets, (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(placement.reserved_bytes, Bytes(128));
}

TEST(Placement, EntriesThatMeetAtOneStepDoNot) {
  // The last step of x is the first of y.
  const Placement placement = place({sample("x", 128, 0, 2), sample("y", 64, 2, 3)});
  EXPECT_EQ(placement.reserved_bytes, Bytes(192));
}

TEST(Placement, AHoleBetweenLongerLivesIsUsed) {
  // a and c stay, b leaves, d fits where b was: 3 x 64 are enough for all four.
  const Placement placement = place(
      {sample("a", 64, 0, 5), sample("b", 64, 1, 2), sample("c", 64, 2, 5), sample("d", 64, 3, 4)});
  EXPECT_EQ(placement.reserved_bytes, Bytes(192));
}

TEST(Placement, OffsetsAreMultiplesOfTheAlignment) {
  const std::vector<Entry> entries{sample("x", 1, 0, 1), sample("y", 1, 1, 2)};
  EXPECT_EQ(place(entries, {.alignment_bytes = 4096}).reserved_bytes, Bytes(4097));
  EXPECT_EQ(place(entries, {.alignment_bytes = 1}).reserved_bytes, Bytes(2));
}

TEST(Placement, GuardsAreKeptOnBothSides) {
  // Guard 16 and alignment 64: x at 64 with guards from 48 to 80, so the next block begins at 128,
  // y at 192, and the last guard ends at 192 + 1 + 16.
  const std::vector<Entry> entries{sample("x", 1, 0, 1), sample("y", 1, 0, 1)};
  const Placement placement = place(entries, {.guard_bytes = 16});
  EXPECT_EQ(placement.offsets, (std::vector<std::int64_t>{64, 192}));
  EXPECT_EQ(placement.arena_bytes, Bytes(209));
}

TEST(Placement, WhatIsReservedLeavesGuardsOut) {
  // Without guards x lies at 0 and y at 64: 64 + 1 bytes. So it does whatever guards there are.
  const std::vector<Entry> entries{sample("x", 1, 0, 1), sample("y", 1, 0, 1)};
  for (const std::int64_t guard : {0, 16, 100}) {
    EXPECT_EQ(place(entries, {.guard_bytes = guard}).reserved_bytes, Bytes(65)) << guard;
  }
  EXPECT_EQ(place(entries).arena_bytes, Bytes(65));
}

TEST(Placement, EachPlaceHasItsOwnArena) {
  std::vector<Entry> entries{sample("x", 128, 0, 1), sample("y", 64, 0, 1)};
  entries[1].place = Place::shared;
  const Placement device = place(entries);
  EXPECT_EQ(device.offsets, (std::vector<std::int64_t>{0, Placement::kNotPlaced}));
  EXPECT_EQ(device.reserved_bytes, Bytes(128));
  const Placement shared = place(entries, {.place = Place::shared});
  EXPECT_EQ(shared.offsets, (std::vector<std::int64_t>{Placement::kNotPlaced, 0}));
  EXPECT_EQ(shared.reserved_bytes, Bytes(64));
}

TEST(Placement, WhatHasNoBytesTakesNoRoom) {
  EXPECT_EQ(place({}).reserved_bytes, Bytes(0));
  EXPECT_EQ(place({sample("x", 0, 0, 1)}).reserved_bytes, Bytes(0));
}

TEST(Placement, InvalidInputIsRefused) {
  EXPECT_EQ(
      fault_of({}, {.alignment_bytes = 48}),
      "alignment_bytes | is 48; it must be a power of two | use 64, the size of a cache line");
  EXPECT_EQ(fault_of({}, {.alignment_bytes = 0}),
            "alignment_bytes | is 0; it must be a power of two | use 64, the size of a cache line");
  EXPECT_EQ(fault_of({}, {.guard_bytes = -1}),
            "guard_bytes | is -1; it must be at least 0 | use 0 for no guards");
  EXPECT_EQ(fault_of({sample("x", 1LL << 62, 0, 1), sample("y", 1LL << 62, 5, 6)}),
            "size | a sum of sizes leaves the 64-bit range | use smaller dimensions");
  std::vector<Entry> compact{sample("x", 1, 0, 1)};
  compact[0].copies = 2;
  EXPECT_EQ(fault_of(compact).substr(0, 26), "step.x | stands for 2 copi");
}

TEST(PlacementCheck, TwoEntriesOnTheSameBytesAreFound) {
  const std::vector<Entry> entries{sample("x", 128, 0, 2), sample("y", 64, 2, 3)};
  const auto fault = find_fault(entries, {.offsets = {0, 64}, .arena_bytes = Bytes(192)});
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, Kind::overlap);
  EXPECT_EQ(fault->entry, 1U);
  EXPECT_EQ(fault->other, 0U);
  EXPECT_FALSE(find_fault(entries, {.offsets = {0, 128}, .arena_bytes = Bytes(192)}));
}

TEST(PlacementCheck, AnEntryInsideAnotherIsFound) {
  const std::vector<Entry> entries{sample("x", 64, 0, 2), sample("y", 256, 1, 3)};
  const auto fault = find_fault(entries, {.offsets = {64, 0}, .arena_bytes = Bytes(256)});
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, Kind::overlap);
}

TEST(PlacementCheck, ASharedGuardIsFound) {
  const std::vector<Entry> entries{sample("x", 64, 0, 2), sample("y", 64, 0, 2)};
  const PlacementOptions options{.guard_bytes = 64};
  EXPECT_TRUE(find_fault(entries, {.offsets = {64, 192}, .arena_bytes = Bytes(320)}, options));
  EXPECT_FALSE(find_fault(entries, {.offsets = {64, 256}, .arena_bytes = Bytes(384)}, options));
}

TEST(PlacementCheck, AnOffsetOutsideTheArenaOrItsGuardsIsFound) {
  const std::vector<Entry> entries{sample("x", 64, 0, 2)};
  for (const std::int64_t offset : {-64LL, 64LL, Placement::kNotPlaced * 1LL, 1LL << 62}) {
    const auto fault = find_fault(entries, {.offsets = {offset}, .arena_bytes = Bytes(64)});
    ASSERT_TRUE(fault.has_value()) << offset;
    EXPECT_EQ(fault->kind, Kind::outside);
  }
  EXPECT_TRUE(find_fault(entries, {.offsets = {}, .arena_bytes = Bytes(64)}));
  EXPECT_TRUE(
      find_fault(entries, {.offsets = {0}, .arena_bytes = Bytes(128)}, {.guard_bytes = 64}));
}

TEST(PlacementCheck, AMisalignedOffsetIsFound) {
  const auto fault =
      find_fault({sample("x", 64, 0, 2)}, {.offsets = {32}, .arena_bytes = Bytes(96)});
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, Kind::misaligned);
}

// Two entries of the arena that are alive at a common step and share a byte, by looking at all
// pairs.
bool overlaps_by_pairs(const std::vector<Entry>& entries, const Placement& placement) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Entry& a = entries[i];
      const Entry& b = entries[j];
      if (a.place != Place::device || b.place != Place::device) continue;
      if (a.first_step > b.last_step || b.first_step > a.last_step) continue;
      const std::int64_t end_a = placement.offsets[i] + a.bytes.count();
      const std::int64_t end_b = placement.offsets[j] + b.bytes.count();
      if (std::max(placement.offsets[i], placement.offsets[j]) < std::min(end_a, end_b)) {
        return true;
      }
    }
  }
  return false;
}

RC_GTEST_PROP(Placement, NeverOverlapsAndLiesBetweenTheLivePeakAndTheSum, ()) {
  const std::vector<Entry> entries = random_entries();
  PlacementOptions options;
  options.alignment_bytes = std::int64_t{1} << random_integer(0, 8);
  options.guard_bytes = *rc::gen::element<std::int64_t>(0, 0, 16, 100);
  const Placement placement = place(entries, options);
  RC_ASSERT(!find_fault(entries, placement, options).has_value());
  RC_ASSERT(!overlaps_by_pairs(entries, placement));
  std::int64_t sum = 0;  // every entry at most with both guards and its two roundings
  for (const Entry& entry : entries) {
    if (entry.place != Place::device) continue;
    sum += entry.bytes.count() + 2 * (options.guard_bytes + options.alignment_bytes);
  }
  RC_ASSERT(placement.reserved_bytes >= timeline_of(entries).peak_bytes);
  RC_ASSERT(placement.arena_bytes >= timeline_of(entries).peak_bytes);
  RC_ASSERT(placement.arena_bytes <= Bytes(sum));
}

RC_GTEST_PROP(Placement, WithoutRoundingTheSumIsNeverExceeded, ()) {
  const std::vector<Entry> entries = random_entries();
  Bytes sum;
  for (const Entry& entry : entries) {
    if (entry.place == Place::device) sum += entry.bytes;
  }
  RC_ASSERT(place(entries, {.alignment_bytes = 1}).reserved_bytes <= sum);
}

RC_GTEST_PROP(PlacementCheck, AgreesWithLookingAtAllPairs, ()) {
  const std::vector<Entry> entries = random_entries(40, 10);
  Placement placement;
  placement.arena_bytes = Bytes(1000);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    placement.offsets.push_back(random_integer(0, 900));
  }
  const auto fault = find_fault(entries, placement, {.alignment_bytes = 1});
  RC_ASSERT(fault.has_value() == overlaps_by_pairs(entries, placement));
}

RC_GTEST_PROP(Placement, IsTheSameEachTime, ()) {
  const std::vector<Entry> entries = random_entries();
  RC_ASSERT(place(entries).offsets == place(entries).offsets);
}

// Reserved over live, the mean of `programs`.
template <class Program>
double mean_ratio(const Program& program) {
  constexpr int kPrograms = 50;
  double sum = 0;
  for (int seed = 0; seed < kPrograms; ++seed) {
    SizeSource sizes(static_cast<std::uint64_t>(seed));
    const std::vector<Entry> entries = program(sizes);
    const Placement placement = place(entries);
    EXPECT_FALSE(find_fault(entries, placement).has_value());
    sum += static_cast<double>(placement.reserved_bytes.count()) /
           static_cast<double>(timeline_of(entries).peak_bytes.count());
  }
  return sum / kPrograms;
}

// The bound is what we ask of the heuristics: two bytes wasted in a hundred.
TEST(Placement, TrainingProgramsWasteLittle) {
  EXPECT_LE(mean_ratio([](SizeSource& sizes) { return saved_and_freed(12, 20, sizes); }), 1.02);
  EXPECT_LE(mean_ratio([](SizeSource& sizes) { return saved_and_freed(3, 5, sizes); }), 1.02);
  EXPECT_LE(mean_ratio([](SizeSource& sizes) { return gathered_and_recomputed(12, sizes); }), 1.02);
  EXPECT_LE(mean_ratio([](SizeSource& sizes) { return pipelined(24, 4, 8, sizes); }), 1.02);
}

}  // namespace
}  // namespace fourhold::ledger
