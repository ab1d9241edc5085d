#include "fourhold/ledger/compare.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fourhold/base/json.h"
#include "fourhold/ledger/timeline.h"
#include "tests/unit/ledger/sample_entries.h"

namespace fourhold::ledger {
namespace {

using Fields = std::vector<std::string_view>;

Ledger ledger_of(std::vector<Entry> entries) {
  Ledger ledger;
  ledger.entries = std::move(entries);
  mark_peak(ledger);
  return ledger;
}

std::vector<std::string> keys_of(const Comparison& comparison) {
  std::vector<std::string> keys;
  for (const CompareRow& row : comparison.rows) keys.push_back(row.key);
  return keys;
}

TEST(Compare, EntriesAreMatchedByKeyWhateverTheirOrder) {
  const Ledger a = ledger_of({sample("x", 10, 0, 1), sample("y", 20, 1, 2)});
  const Ledger b = ledger_of({sample("y", 20, 1, 2), sample("x", 10, 0, 1)});
  EXPECT_TRUE(compare(a, b).is_equal());
  EXPECT_EQ(compare(a, b).entries_differing, 0);
}

TEST(Compare, ADifferenceIsPositiveWhereBHoldsMore) {
  Ledger a = ledger_of({sample("x", 10, 0, 1)});
  Ledger b = ledger_of({sample("x", 16, 0, 1)});
  a.reserved_bytes = Bytes(64);
  b.reserved_bytes = Bytes(128);
  const Comparison comparison = compare(a, b);
  ASSERT_EQ(comparison.rows.size(), 1U);
  EXPECT_EQ(comparison.rows[0].bytes.difference(), Bytes(6));
  EXPECT_EQ(comparison.rows[0].fields, (Fields{"shape", "bytes"}));
  EXPECT_EQ(comparison.live_peak.difference(), Bytes(6));
  EXPECT_EQ(comparison.reserved.difference(), Bytes(64));
  EXPECT_EQ(compare(b, a).total.difference(), Bytes(-6));
}

TEST(Compare, AnEntryOfOneLedgerOnlyCountsWithAllItsBytes) {
  const Ledger a = ledger_of({sample("x", 10, 0, 1), sample("y", 20, 0, 1)});
  const Ledger b = ledger_of({sample("y", 20, 0, 1), sample("z", 40, 0, 1)});
  const Comparison comparison = compare(a, b);
  ASSERT_EQ(keys_of(comparison), (std::vector<std::string>{"step.x", "step.y", "step.z"}));
  EXPECT_EQ(comparison.rows[0].only_in, OnlyIn::a);
  EXPECT_EQ(comparison.rows[0].bytes.difference(), Bytes(-10));
  EXPECT_EQ(comparison.rows[1].only_in, OnlyIn::neither);
  EXPECT_EQ(comparison.rows[2].only_in, OnlyIn::b);
  EXPECT_EQ(comparison.rows[2].bytes.difference(), Bytes(40));
  EXPECT_EQ(comparison.entries_differing, 2);
  EXPECT_EQ(comparison.total.a, Bytes(30));
  EXPECT_EQ(comparison.total.b, Bytes(60));
}

TEST(Compare, RowsGoByCategoryThenKey) {
  const Ledger a =
      ledger_of({sample("b", 1, 0, 0, Category::gradient), sample("a", 1, 0, 0, Category::gradient),
                 sample("c", 1, 0, 0, Category::weight)});
  EXPECT_EQ(keys_of(compare(a, a)), (std::vector<std::string>{"step.c", "step.a", "step.b"}));
}

TEST(Compare, SumsPerCategoryTellAllBytesFromThoseAtThePeak) {
  // x and y are both saved, but never at once: the peak is y's 30.
  Ledger a = ledger_of({sample("x", 10, 0, 0, Category::saved_activation),
                        sample("y", 30, 1, 1, Category::saved_activation)});
  a.entries.push_back(sample("h", 7, 0, 1, Category::optimizer_state));
  a.entries.back().place = Place::host;
  a.entries.back().copies = 3;
  const Comparison comparison = compare(a, Ledger{});
  const auto sums = [&comparison](Category category) {
    return comparison.by_category[static_cast<std::size_t>(category)];
  };
  EXPECT_EQ(sums(Category::saved_activation).bytes.a, Bytes(40));
  EXPECT_EQ(sums(Category::saved_activation).at_peak.a, Bytes(30));
  EXPECT_EQ(sums(Category::optimizer_state).bytes.a, Bytes(21));
  EXPECT_EQ(sums(Category::optimizer_state).at_peak.a, Bytes(0));
  EXPECT_EQ(comparison.host.a, Bytes(21));
  EXPECT_EQ(comparison.total.a, Bytes(61));
  EXPECT_EQ(comparison.total.b, Bytes(0));
}

TEST(Compare, AMissingOneOfSeveralEntriesWithOneKeyIsTheOnlyDifference) {
  // A block gathered three times; b misses the first.
  const Ledger a = ledger_of({sample("w", 8, 0, 1), sample("w", 8, 4, 5), sample("w", 8, 8, 9)});
  const Ledger b = ledger_of({sample("w", 8, 4, 5), sample("w", 8, 8, 9)});
  const Comparison comparison = compare(a, b);
  EXPECT_EQ(comparison.entries_differing, 1);
  EXPECT_EQ(comparison.rows.size(), 3U);
  EXPECT_EQ(comparison.rows[0].only_in, OnlyIn::a);
}

TEST(Compare, AChangedOneOfSeveralEntriesWithOneKeyIsOneRow) {
  const Ledger a = ledger_of({sample("w", 8, 0, 1), sample("w", 8, 4, 5)});
  const Ledger b = ledger_of({sample("w", 8, 0, 1), sample("w", 8, 4, 6)});
  const Comparison comparison = compare(a, b);
  ASSERT_EQ(comparison.rows.size(), 2U);
  EXPECT_EQ(comparison.entries_differing, 1);
  EXPECT_EQ(comparison.rows[1].fields, (Fields{"last_step"}));
}

TEST(Compare, LifetimesCanBeIgnored) {
  const Ledger a = ledger_of({sample("x", 10, 0, 1)});
  const Ledger b = ledger_of({sample("x", 10, 5, 9)});
  EXPECT_EQ(compare(a, b).rows[0].fields, (Fields{"first_step", "last_step"}));
  EXPECT_TRUE(compare(a, b, Lifetimes::ignored).is_equal());
}

TEST(Compare, EveryOtherFieldIsCompared) {
  const Ledger a = ledger_of({sample("x", 10, 0, 1)});
  Ledger b = a;
  b.entries[0].category = Category::input;
  b.entries[0].place = Place::shared;
  b.entries[0].dtype = DType::uint8;
  b.entries[0].copies = 2;
  EXPECT_EQ(compare(a, b).rows[0].fields, (Fields{"category", "place", "dtype", "copies"}));
}

TEST(Compare, TheJsonHoldsRowsSumsAndTotals) {
  const Ledger a = ledger_of({sample("x", 10, 0, 1, Category::weight)});
  const Ledger b = ledger_of({});
  const json::Value value = to_json(compare(a, b));
  EXPECT_EQ(value.find("schema")->string(), "fourhold.compare/1");
  EXPECT_FALSE(value.find("equal")->boolean());
  EXPECT_EQ(value.find("entries_a")->integer(), 1);
  EXPECT_EQ(value.find("entries_b")->integer(), 0);
  EXPECT_EQ(value.find("entries_differing")->integer(), 1);
  EXPECT_EQ(value.find("by_category")->object().size(), 12U);  // those that training can hold
  const auto one_line = [](const json::Value& v) { return json::write(v, json::Layout::one_line); };
  EXPECT_EQ(*value.find("live_peak_bytes"), json::parse(R"({"a":10,"b":0,"difference":-10})", ""));
  EXPECT_EQ(*value.find("by_category")->find("weight"),
            json::parse(R"({"bytes":{"a":10,"b":0,"difference":-10},
                            "at_peak":{"a":10,"b":0,"difference":-10}})",
                        ""));
  EXPECT_EQ(*value.find("rows"),
            json::parse(R"([{"key":"step.x","category":"weight","bytes_a":10,"bytes_b":0,
                             "difference":-10,"only_in":"a","fields":[]}])",
                        ""))
      << one_line(*value.find("rows"));
  EXPECT_TRUE(to_json(compare(a, a)).find("rows")->array()[0].find("only_in")->is_null());
}

TEST(Compare, TheJsonHoldsCachesOnlyWhereThereAreAny) {
  const Ledger without = ledger_of({sample("x", 10, 0, 1, Category::weight)});
  const Ledger with = ledger_of({sample("x", 10, 0, 1, Category::kv_cache)});
  const json::Value value = to_json(compare(without, with));
  EXPECT_EQ(*value.find("by_category")->find("kv_cache")->find("bytes"),
            json::parse(R"({"a":0,"b":10,"difference":10})", ""));
  EXPECT_EQ(to_json(compare(without, without)).find("by_category")->find("kv_cache"), nullptr);
}

RC_GTEST_PROP(Compare, ALedgerEqualsItselfInAnyOrder, ()) {
  const Ledger a = ledger_of(random_entries());
  Ledger b = a;
  for (std::size_t i = b.entries.size(); i > 1; --i) {
    const auto j = static_cast<std::size_t>(random_integer(0, static_cast<std::int64_t>(i) - 1));
    std::swap(b.entries[i - 1], b.entries[j]);
  }
  const Comparison comparison = compare(a, b);
  RC_ASSERT(comparison.is_equal());
  RC_ASSERT(comparison.entries_differing == 0);
  RC_ASSERT(comparison.rows.size() == a.entries.size());
}

// One change of one field.
void mutate(Entry& entry, std::int64_t kind) {
  switch (kind) {
    case 0:
      entry.key.layer += 1;
      break;
    case 1:
      entry.shape = entry.shape.rank() == 0 ? Dims{1} : Dims{};
      break;
    case 2:
      entry.dtype = entry.dtype == DType::fp32 ? DType::int32 : DType::fp32;
      break;
    case 3:
      entry.bytes += Bytes(1);
      break;
    case 4:
      entry.copies += 1;
      break;
    case 5:
      entry.category = entry.category == Category::other ? Category::input : Category::other;
      break;
    case 6:
      entry.place = entry.place == Place::host ? Place::shared : Place::host;
      break;
    case 7:
      entry.first_step -= 1;
      break;
    default:
      entry.last_step += 1;
      break;
  }
}

RC_GTEST_PROP(Compare, EverySingleMutationIsFound, ()) {
  const Ledger a = ledger_of(random_entries());
  RC_PRE(!a.entries.empty());
  Ledger b = a;
  const auto i =
      static_cast<std::size_t>(random_integer(0, static_cast<std::int64_t>(a.entries.size()) - 1));
  const std::int64_t kind = random_integer(-2, 8);
  if (kind == -2) {
    b.entries.erase(b.entries.begin() + static_cast<std::ptrdiff_t>(i));
  } else if (kind == -1) {
    b.entries.push_back(b.entries[i]);
  } else {
    mutate(b.entries[i], kind);
  }
  const Comparison comparison = compare(a, b);
  RC_ASSERT(!comparison.is_equal());
  // A changed key makes one row in each ledger.
  RC_ASSERT(comparison.entries_differing == (kind == 0 ? 2 : 1));
  // The sum of all rows is the difference of the totals.
  Bytes sum;
  for (const CompareRow& row : comparison.rows) sum += row.bytes.difference();
  RC_ASSERT(sum == comparison.total.difference());
}

}  // namespace
}  // namespace fourhold::ledger
