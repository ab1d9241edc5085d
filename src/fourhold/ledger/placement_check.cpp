// Finds faults of a placement without any part of the code that makes one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "fourhold/ledger/placement.h"
#include "fourhold/ledger/timeline.h"

namespace fourhold::ledger {
namespace {

using Kind = PlacementFault::Kind;

// The bytes an entry must have for itself while it is alive.
struct Extent {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

Extent extent_of(const Entry& entry, std::int64_t offset, const PlacementOptions& options) {
  return {offset - options.guard_bytes, offset + entry.bytes.count() + options.guard_bytes};
}

std::optional<PlacementFault> fault_of_one(const std::vector<Entry>& entries,
                                           const Placement& placement,
                                           const PlacementOptions& options, std::size_t i) {
  const std::int64_t offset = placement.offsets[i];
  // Compared by differences: sums with an offset from elsewhere could overflow.
  const std::int64_t room = placement.arena_bytes.count() - options.guard_bytes;
  if (offset < options.guard_bytes || offset > room || entries[i].bytes.count() > room - offset) {
    return PlacementFault{Kind::outside, i, i};
  }
  if (offset % options.alignment_bytes != 0) return PlacementFault{Kind::misaligned, i, i};
  return std::nullopt;
}

// The entries alive at the moment of the sweep, by address. While there is no fault they do not
// overlap, so only the neighbours of a new one can.
class Alive {
 public:
  // The entry in the way of the new one, which is then not added.
  std::optional<std::size_t> add(const Extent& extent, std::size_t index) {
    const auto above = by_end_.upper_bound(extent.begin);  // the lowest that ends above its begin
    if (above != by_end_.end() && above->second.begin < extent.end) return above->second.index;
    by_end_.emplace(extent.end, Owner{extent.begin, index});
    return std::nullopt;
  }
  void remove(const Extent& extent) { by_end_.erase(extent.end); }

 private:
  struct Owner {
    std::int64_t begin = 0;
    std::size_t index = 0;
  };
  std::map<std::int64_t, Owner> by_end_;
};

}  // namespace

std::optional<PlacementFault> find_fault(const std::vector<Entry>& entries,
                                         const Placement& placement,
                                         const PlacementOptions& options) {
  require_expanded(entries);
  require_valid(options);
  std::vector<std::size_t> by_first;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].place != options.place) continue;
    if (i >= placement.offsets.size()) return PlacementFault{Kind::outside, i, i};
    if (auto fault = fault_of_one(entries, placement, options, i)) return fault;
    const Extent extent = extent_of(entries[i], placement.offsets[i], options);
    if (extent.begin < extent.end) by_first.push_back(i);
  }
  std::vector<std::size_t> by_last = by_first;
  std::stable_sort(by_first.begin(), by_first.end(), [&entries](std::size_t a, std::size_t b) {
    return entries[a].first_step < entries[b].first_step;
  });
  std::stable_sort(by_last.begin(), by_last.end(), [&entries](std::size_t a, std::size_t b) {
    return entries[a].last_step < entries[b].last_step;
  });

  Alive alive;
  std::size_t ended = 0;
  for (const std::size_t i : by_first) {
    for (; entries[by_last[ended]].last_step < entries[i].first_step; ++ended) {
      const std::size_t over = by_last[ended];
      alive.remove(extent_of(entries[over], placement.offsets[over], options));
    }
    const Extent extent = extent_of(entries[i], placement.offsets[i], options);
    if (const auto other = alive.add(extent, i)) return PlacementFault{Kind::overlap, i, *other};
  }
  return std::nullopt;
}

}  // namespace fourhold::ledger
