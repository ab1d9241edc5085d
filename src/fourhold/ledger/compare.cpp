#include "fourhold/ledger/compare.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>

namespace fourhold::ledger {
namespace {

constexpr std::size_t kNoEntry = std::numeric_limits<std::size_t>::max();

struct Match {
  std::size_t a = kNoEntry;  // index of the entry, kNoEntry where it is missing
  std::size_t b = kNoEntry;
};

using Indices = std::vector<std::size_t>;

// All sizes and the rank, so that shapes can be ordered.
std::array<std::int64_t, Dims::kMaxRank + 1> sizes_of(const Dims& shape) {
  std::array<std::int64_t, Dims::kMaxRank + 1> sizes{shape.rank()};
  std::copy(shape.begin(), shape.end(), sizes.begin() + 1);
  return sizes;
}

// What two equal entries have in common, as a value with an order.
auto content_of(const Entry& entry, Lifetimes lifetimes) {
  const bool timed = lifetimes == Lifetimes::compared;
  return std::tuple(entry.category, entry.place, sizes_of(entry.shape), entry.dtype, entry.bytes,
                    entry.copies, timed ? entry.first_step : 0, timed ? entry.last_step : 0);
}

std::vector<std::string_view> differing_fields(const Entry& a, const Entry& b,
                                               Lifetimes lifetimes) {
  std::vector<std::string_view> fields;
  if (a.category != b.category) fields.emplace_back("category");
  if (a.place != b.place) fields.emplace_back("place");
  if (!(a.shape == b.shape)) fields.emplace_back("shape");
  if (a.dtype != b.dtype) fields.emplace_back("dtype");
  if (a.bytes != b.bytes) fields.emplace_back("bytes");
  if (a.copies != b.copies) fields.emplace_back("copies");
  if (lifetimes == Lifetimes::ignored) return fields;
  if (a.first_step != b.first_step) fields.emplace_back("first_step");
  if (a.last_step != b.last_step) fields.emplace_back("last_step");
  return fields;
}

class Matcher {
 public:
  Matcher(const Ledger& a, const Ledger& b, Lifetimes lifetimes)
      : a_(a.entries), b_(b.entries), lifetimes_(lifetimes) {}

  // Every entry of both ledgers, in exactly one match; by category, key, and position.
  [[nodiscard]] std::vector<Match> matches() {
    const Indices by_key_a = by_key(a_);
    const Indices by_key_b = by_key(b_);
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < by_key_a.size() || j < by_key_b.size()) {
      const Key& key = next_key(by_key_a, i, by_key_b, j);
      match_group(take_group(a_, by_key_a, i, key), take_group(b_, by_key_b, j, key));
    }
    std::sort(matches_.begin(), matches_.end(), [this](const Match& x, const Match& y) {
      const Entry& of_x = entry_of(x);
      const Entry& of_y = entry_of(y);
      return std::tie(of_x.category, of_x.key, x.a, x.b) <
             std::tie(of_y.category, of_y.key, y.a, y.b);
    });
    return matches_;
  }

  [[nodiscard]] const Entry& entry_of(const Match& match) const {
    return match.a != kNoEntry ? a_[match.a] : b_[match.b];
  }

 private:
  static Indices by_key(const std::vector<Entry>& entries) {
    Indices order(entries.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&entries](std::size_t x, std::size_t y) {
      return std::tie(entries[x].key, x) < std::tie(entries[y].key, y);
    });
    return order;
  }

  const Key& next_key(const Indices& of_a, std::size_t i, const Indices& of_b,
                      std::size_t j) const {
    if (i == of_a.size()) return b_[of_b[j]].key;
    if (j == of_b.size()) return a_[of_a[i]].key;
    return std::min(a_[of_a[i]].key, b_[of_b[j]].key);
  }

  static Indices take_group(const std::vector<Entry>& entries, const Indices& order,
                            std::size_t& next, const Key& key) {
    Indices group;
    while (next < order.size() && entries[order[next]].key == key) group.push_back(order[next++]);
    return group;
  }

  // A key may stand for several tensors, such as a block gathered once forward and once backward:
  // one that is missing must not make all behind it differ.
  void match_group(Indices of_a, Indices of_b) {
    if (of_a.size() > 1 || of_b.size() > 1) take_equal(of_a, of_b);
    const std::size_t pairs = std::max(of_a.size(), of_b.size());
    for (std::size_t i = 0; i < pairs; ++i) {
      matches_.push_back(
          {i < of_a.size() ? of_a[i] : kNoEntry, i < of_b.size() ? of_b[i] : kNoEntry});
    }
  }

  // Matches equal entries and leaves the others, in order of their first steps.
  void take_equal(Indices& of_a, Indices& of_b) {
    sort_by_content(a_, of_a);
    sort_by_content(b_, of_b);
    Indices left_a;
    Indices left_b;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < of_a.size() && j < of_b.size()) {
      const auto content_a = content_of(a_[of_a[i]], lifetimes_);
      const auto content_b = content_of(b_[of_b[j]], lifetimes_);
      if (content_a == content_b) {
        matches_.push_back({of_a[i++], of_b[j++]});
      } else if (content_a < content_b) {
        left_a.push_back(of_a[i++]);
      } else {
        left_b.push_back(of_b[j++]);
      }
    }
    for (; i < of_a.size(); ++i) left_a.push_back(of_a[i]);
    for (; j < of_b.size(); ++j) left_b.push_back(of_b[j]);
    sort_by_first_step(a_, left_a);
    sort_by_first_step(b_, left_b);
    of_a = std::move(left_a);
    of_b = std::move(left_b);
  }

  void sort_by_content(const std::vector<Entry>& entries, Indices& group) const {
    std::stable_sort(group.begin(), group.end(), [&](std::size_t x, std::size_t y) {
      return content_of(entries[x], lifetimes_) < content_of(entries[y], lifetimes_);
    });
  }
  static void sort_by_first_step(const std::vector<Entry>& entries, Indices& group) {
    std::sort(group.begin(), group.end(), [&entries](std::size_t x, std::size_t y) {
      return std::tie(entries[x].first_step, x) < std::tie(entries[y].first_step, y);
    });
  }

  const std::vector<Entry>& a_;
  const std::vector<Entry>& b_;
  Lifetimes lifetimes_;
  std::vector<Match> matches_;
};

CompareRow row_of(const Matcher& matcher, const Match& match, const Ledger& a, const Ledger& b,
                  Lifetimes lifetimes) {
  CompareRow row;
  row.key = to_string(matcher.entry_of(match).key);
  row.category = matcher.entry_of(match).category;
  if (match.a != kNoEntry) row.bytes.a = a.entries[match.a].bytes * a.entries[match.a].copies;
  if (match.b != kNoEntry) row.bytes.b = b.entries[match.b].bytes * b.entries[match.b].copies;
  if (match.a == kNoEntry) {
    row.only_in = OnlyIn::b;
  } else if (match.b == kNoEntry) {
    row.only_in = OnlyIn::a;
  } else {
    row.fields = differing_fields(a.entries[match.a], b.entries[match.b], lifetimes);
  }
  return row;
}

bool is_same(const BytesPair& pair) { return pair.a == pair.b; }

void add_sums(const Ledger& ledger, Bytes BytesPair::*side, Comparison& comparison) {
  for (const Entry& entry : ledger.entries) {
    const Bytes bytes = entry.bytes * entry.copies;
    comparison.by_category[static_cast<std::size_t>(entry.category)].bytes.*side += bytes;
    comparison.total.*side += bytes;
  }
  const CategoryBytes at_peak = ledger.at_peak_by_category();
  for (std::size_t i = 0; i < at_peak.size(); ++i) {
    comparison.by_category[i].at_peak.*side = at_peak[i];
  }
  comparison.live_peak.*side = ledger.live_peak_bytes;
  comparison.reserved.*side = ledger.reserved_bytes;
  comparison.host.*side = ledger.host_bytes();
}

json::Value to_json(const BytesPair& pair) {
  return json::Object{
      {"a", pair.a.count()}, {"b", pair.b.count()}, {"difference", pair.difference().count()}};
}

json::Value to_json(const CompareRow& row) {
  json::Value only_in;
  if (row.only_in == OnlyIn::a) only_in = "a";
  if (row.only_in == OnlyIn::b) only_in = "b";
  json::Array fields;
  for (const std::string_view field : row.fields) fields.emplace_back(field);
  return json::Object{{"key", row.key},
                      {"category", to_string(row.category)},
                      {"bytes_a", row.bytes.a.count()},
                      {"bytes_b", row.bytes.b.count()},
                      {"difference", row.bytes.difference().count()},
                      {"only_in", only_in},
                      {"fields", std::move(fields)}};
}

}  // namespace

bool Comparison::is_equal() const {
  for (const CategoryComparison& category : by_category) {
    if (!is_same(category.bytes) || !is_same(category.at_peak)) return false;
  }
  return entries_differing == 0 && is_same(live_peak) && is_same(reserved) && is_same(host);
}

Comparison compare(const Ledger& a, const Ledger& b, Lifetimes lifetimes) {
  Comparison comparison;
  comparison.entries_a = static_cast<std::int64_t>(a.entries.size());
  comparison.entries_b = static_cast<std::int64_t>(b.entries.size());
  Matcher matcher(a, b, lifetimes);
  const std::vector<Match> matches = matcher.matches();
  comparison.rows.reserve(matches.size());
  for (const Match& match : matches) {
    comparison.rows.push_back(row_of(matcher, match, a, b, lifetimes));
    if (comparison.rows.back().differs()) ++comparison.entries_differing;
  }
  add_sums(a, &BytesPair::a, comparison);
  add_sums(b, &BytesPair::b, comparison);
  return comparison;
}

json::Value to_json(const Comparison& comparison) {
  json::Object by_category;
  for (int i = 0; i < kCategoryCount; ++i) {
    const CategoryComparison& sums = comparison.by_category[static_cast<std::size_t>(i)];
    const auto category = static_cast<Category>(i);
    const bool none = sums.bytes.a == Bytes(0) && sums.bytes.b == Bytes(0);
    if (none && !held_in_training(category)) continue;
    by_category.emplace_back(to_string(category), json::Object{{"bytes", to_json(sums.bytes)},
                                                               {"at_peak", to_json(sums.at_peak)}});
  }
  json::Array rows;
  rows.reserve(comparison.rows.size());
  for (const CompareRow& row : comparison.rows) rows.push_back(to_json(row));
  return json::Object{{"schema", "fourhold.compare/1"},
                      {"equal", comparison.is_equal()},
                      {"entries_a", comparison.entries_a},
                      {"entries_b", comparison.entries_b},
                      {"entries_differing", comparison.entries_differing},
                      {"total_bytes", to_json(comparison.total)},
                      {"live_peak_bytes", to_json(comparison.live_peak)},
                      {"reserved_bytes", to_json(comparison.reserved)},
                      {"host_bytes", to_json(comparison.host)},
                      {"by_category", std::move(by_category)},
                      {"rows", std::move(rows)}};
}

}  // namespace fourhold::ledger
