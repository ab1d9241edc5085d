// Two ledgers, entry by entry: predicted against measured, or one plan against another.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/base/json.h"
#include "fourhold/base/units.h"
#include "fourhold/ledger/category.h"
#include "fourhold/ledger/ledger.h"

namespace fourhold::ledger {

// Steps say the same only in two ledgers of one program.
enum class Lifetimes : std::uint8_t { compared, ignored };

enum class OnlyIn : std::uint8_t { neither, a, b };  // neither: the entry is in both

// A figure of both ledgers; the difference is positive where b holds more.
struct BytesPair {
  Bytes a;
  Bytes b;
  [[nodiscard]] Bytes difference() const { return b - a; }
};

struct CompareRow {
  std::string key;
  Category category = Category::other;  // of a's entry where there is one
  BytesPair bytes;                      // all copies of the entry; 0 where it is missing
  OnlyIn only_in = OnlyIn::neither;
  // Names of the fields that differ, in the order of the file format; empty when only in one.
  std::vector<std::string_view> fields;

  [[nodiscard]] bool differs() const { return only_in != OnlyIn::neither || !fields.empty(); }
};

struct CategoryComparison {
  BytesPair bytes;    // all copies of all entries, wherever they lie
  BytesPair at_peak;  // on the device, at each ledger's own live peak
};

struct Comparison {
  std::vector<CompareRow> rows;  // by category, then key, then order of the entries
  std::array<CategoryComparison, kCategoryCount> by_category{};
  BytesPair total;
  BytesPair live_peak;
  BytesPair reserved;
  BytesPair host;
  std::int64_t entries_a = 0;
  std::int64_t entries_b = 0;
  std::int64_t entries_differing = 0;  // rows that differ

  // No row, sum or peak differs. The words of peak_step are not compared.
  [[nodiscard]] bool is_equal() const;
};

// Entries with one key are matched: equal ones first, the others in order of their first steps.
[[nodiscard]] Comparison compare(const Ledger& a, const Ledger& b,
                                 Lifetimes lifetimes = Lifetimes::compared);

// JSON of schema "fourhold.compare/1" (docs/ledger-format.md).
[[nodiscard]] json::Value to_json(const Comparison& comparison);

}  // namespace fourhold::ledger
