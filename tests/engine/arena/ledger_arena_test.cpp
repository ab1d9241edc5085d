#include "fourhold/engine/arena/ledger_arena.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "fourhold/engine/arena/guards.h"

namespace fourhold::engine {
namespace {

ledger::Entry entry(std::string_view name, std::int64_t bytes, std::int64_t first,
                    std::int64_t last) {
  ledger::Entry made;
  made.key.block = "layer";
  made.key.name = name;
  made.bytes = Bytes(bytes);
  made.first_step = first;
  made.last_step = last;
  return made;
}

ledger::Ledger three_entries() {
  ledger::Ledger ledger;
  ledger.entries = {entry("weight", 100, 0, 9), entry("value", 64, 1, 3), entry("value", 64, 5, 7)};
  return ledger;
}

TEST(LedgerArena, FindsTheEntryThatIsAliveAtTheStep) {
  const LedgerArena arena(three_entries(), {});
  const ledger::Key value = arena.ledger().entries[1].key;
  EXPECT_EQ(arena.find(value, 1), 1U);
  EXPECT_EQ(arena.find(value, 3), 1U);
  EXPECT_EQ(arena.find(value, 4), std::nullopt);
  EXPECT_EQ(arena.find(value, 6), 2U);
  ledger::Key other = value;
  other.layer = 3;
  EXPECT_EQ(arena.find(other, 1), std::nullopt);
}

// 100 bytes rounded up to 64 are 128; the two values, never alive together, share 64.
TEST(LedgerArena, IsAsLargeAsThePlacementSays) {
  const LedgerArena arena(three_entries(), {});
  EXPECT_EQ(arena.placement().arena_bytes, Bytes(128 + 64));
  EXPECT_EQ(arena.arena().bytes(), 128 + 64);
  EXPECT_EQ(arena.bytes_of(0).size(), 100U);
  EXPECT_EQ(arena.offset_of(1), arena.offset_of(2));
  const LedgerArena larger(three_entries(), {.least_bytes = 1000});
  EXPECT_EQ(larger.arena().bytes(), 1000);
}

TEST(LedgerArena, EveryByteOfItCanBeWritten) {
  const LedgerArena arena(three_entries(), {.threads = 2});
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::byte& byte : arena.bytes_of(i)) byte = std::byte{7};
  }
  EXPECT_EQ(*arena.arena().at(arena.offset_of(0) + 99), std::byte{7});
}

TEST(Guards, NoticeAWriteOnEitherSideOfAnEntry) {
  const LedgerArena arena(three_entries(), {.guard_bytes = 64});
  fill_guards(arena, 0);
  EXPECT_EQ(changed_guard(arena, 0), std::nullopt);
  arena.bytes_of(0).data()[100] = std::byte{1};
  EXPECT_EQ(changed_guard(arena, 0), 100);
  fill_guards(arena, 0);
  *(arena.bytes_of(0).data() - 1) = std::byte{1};
  EXPECT_EQ(changed_guard(arena, 0), -1);
}

TEST(Guards, PoisonShowsWhatWasNotWritten) {
  const LedgerArena arena(three_entries(), {});
  const std::span<std::byte> bytes = arena.bytes_of(1);
  poison(bytes);
  EXPECT_EQ(poison_left(bytes, 2), 0);
  for (std::size_t i = 0; i < 62; ++i) bytes[i] = std::byte{0};
  EXPECT_EQ(poison_left(bytes, 2), 62);
  bytes[62] = bytes[63] = std::byte{0};
  EXPECT_EQ(poison_left(bytes, 2), std::nullopt);
}

}  // namespace
}  // namespace fourhold::engine
