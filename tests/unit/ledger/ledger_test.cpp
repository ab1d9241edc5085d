#include "fourhold/ledger/ledger.h"

#include <gtest/gtest.h>

#include "fourhold/base/error.h"
#include "tests/unit/ledger/sample_entries.h"

namespace fourhold::ledger {
namespace {

Bytes of(const CategoryBytes& bytes, Category category) {
  return bytes[static_cast<std::size_t>(category)];
}

TEST(Ledger, ThePeakByCategoryCountsTheCopiesAliveThere) {
  Ledger ledger;
  ledger.entries = {sample("w", 100, 0, 9, Category::weight),
                    sample("v", 10, 0, 9, Category::weight),
                    sample("x", 7, 0, 9, Category::saved_activation)};
  ledger.entries[0].copies = 12;
  ledger.entries[0].copies_at_peak = 12;
  ledger.entries[1].copies_at_peak = 1;
  ledger.entries[2].copies = 5;
  ledger.entries[2].copies_at_peak = 3;
  const CategoryBytes bytes = ledger.at_peak_by_category();
  EXPECT_EQ(of(bytes, Category::weight), Bytes(12 * 100 + 10));
  EXPECT_EQ(of(bytes, Category::saved_activation), Bytes(3 * 7));
  EXPECT_EQ(of(bytes, Category::gradient), Bytes(0));
}

TEST(Ledger, EntriesElsewhereDoNotCountTowardsTheDevice) {
  Ledger ledger;
  ledger.entries = {sample("a", 100, 0, 9), sample("b", 30, 0, 9), sample("c", 5, 0, 9)};
  for (Entry& entry : ledger.entries) entry.copies_at_peak = 1;
  ledger.entries[0].place = Place::host;
  ledger.entries[1].place = Place::shared;
  EXPECT_EQ(of(ledger.at_peak_by_category(), Category::other), Bytes(5));
}

TEST(Ledger, HostBytesCountEveryCopyWhetherOrNotAliveAtThePeak) {
  Ledger ledger;
  ledger.entries = {sample("a", 100, 0, 9), sample("b", 30, 0, 9)};
  ledger.entries[0].place = Place::host;
  ledger.entries[0].copies = 4;
  EXPECT_EQ(ledger.host_bytes(), Bytes(400));
}

TEST(Ledger, ATotalBeyond64BitsIsRefused) {
  Ledger ledger;
  ledger.entries = {sample("a", 1LL << 62, 0, 0)};
  ledger.entries[0].place = Place::host;
  ledger.entries[0].copies = 2;
  EXPECT_THROW(static_cast<void>(ledger.host_bytes()), Error);
}

TEST(Ledger, PlacesHaveTheirTexts) {
  EXPECT_EQ(to_string(Place::device), "device");
  EXPECT_EQ(to_string(Place::host), "host");
  EXPECT_EQ(to_string(Place::shared), "shared");
}

}  // namespace
}  // namespace fourhold::ledger
