#include "fourhold/engine/arena/ledger_arena.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

namespace fourhold::engine {
namespace {

ledger::Placement placed(const ledger::Ledger& ledger, std::int64_t guard_bytes) {
  ledger::PlacementOptions options;
  options.guard_bytes = guard_bytes;
  return ledger::place(ledger.entries, options);
}

std::vector<std::size_t> sorted_by_key(const std::vector<ledger::Entry>& entries) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto keys = entries[a].key <=> entries[b].key;
    if (keys != std::strong_ordering::equal) return keys == std::strong_ordering::less;
    return entries[a].first_step < entries[b].first_step;
  });
  return order;
}

}  // namespace

LedgerArena::LedgerArena(ledger::Ledger ledger, const LedgerArenaOptions& options)
    : ledger_(std::move(ledger)),
      placement_(placed(ledger_, options.guard_bytes)),
      guard_bytes_(options.guard_bytes),
      arena_(std::max(placement_.arena_bytes.count(), options.least_bytes), options.threads),
      by_key_(sorted_by_key(ledger_.entries)) {}

std::optional<std::size_t> LedgerArena::find(const ledger::Key& key, std::int64_t step) const {
  const std::vector<ledger::Entry>& entries = ledger_.entries;
  auto at = std::lower_bound(by_key_.begin(), by_key_.end(), key,
                             [&](std::size_t entry, const ledger::Key& wanted) {
                               return (entries[entry].key <=> wanted) == std::strong_ordering::less;
                             });
  for (; at != by_key_.end() && entries[*at].key == key; ++at) {
    if (entries[*at].first_step <= step && step <= entries[*at].last_step) return *at;
  }
  return std::nullopt;
}

std::int64_t LedgerArena::offset_of(std::size_t entry) const {
  const std::int64_t offset = placement_.offsets[entry];
  assert(offset != ledger::Placement::kNotPlaced && "the entry lies in this arena");
  return offset;
}

std::span<std::byte> LedgerArena::bytes_of(std::size_t entry) const {
  return {arena_.at(offset_of(entry)),
          static_cast<std::size_t>(ledger_.entries[entry].bytes.count())};
}

}  // namespace fourhold::engine
