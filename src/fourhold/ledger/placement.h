// Where every entry of one arena lies: offsets such that no two entries alive at a common step
// touch.
//
// Finding the smallest arena is NP-hard (dynamic storage allocation, problem SR2 of Garey and
// Johnson, Computers and Intractability, 1979), so a fixed series of heuristics is tried until one
// reaches the live peak, which none can beat, and the smallest result is kept. Nothing depends on
// time, addresses or threads: the planner and the engine get the same offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fourhold/base/units.h"
#include "fourhold/ledger/ledger.h"

namespace fourhold::ledger {

struct PlacementOptions {
  std::int64_t alignment_bytes = 64;  // of every offset; a power of two
  std::int64_t guard_bytes = 0;       // kept free before and behind every entry, shared with none
  Place place = Place::device;        // which entries the arena holds
};

// Error unless the alignment is a power of two and the guard not negative.
void require_valid(const PlacementOptions& options);

struct Placement {
  static constexpr std::int64_t kNotPlaced = -1;  // the entry lies elsewhere

  std::vector<std::int64_t> offsets;  // of the entry's own bytes, by index of the entry
  Bytes arena_bytes{};                // what these offsets need, guards included
  // What the same entries need with a guard size of 0: the figure of a ledger, whatever guards the
  // run at hand has. Guards move entries to other places, so it is not arena_bytes minus guards; a
  // run with guards is held to arena_bytes, and to reserved_bytes only one without.
  Bytes reserved_bytes{};
};

// Places the entries of an expanded ledger; twice where there are guards. Entries alive throughout
// lie at the bottom, in their order. Error when the ledger is not expanded, an option is invalid,
// or the sizes leave int64.
[[nodiscard]] Placement place(const std::vector<Entry>& entries,
                              const PlacementOptions& options = {});

// The first fault of a placement that was made elsewhere or must be trusted.
struct PlacementFault {
  enum class Kind : std::uint8_t { overlap, misaligned, outside };
  Kind kind = Kind::overlap;
  std::size_t entry = 0;  // index of the entry
  std::size_t other = 0;  // of the entry it overlaps; `entry` itself for the other kinds
};

// Checks every offset: alignment, within the arena, and no byte or guard shared by two entries that
// are alive at a common step. O(n log n), by other means than `place` uses. Nothing when all is
// well.
[[nodiscard]] std::optional<PlacementFault> find_fault(const std::vector<Entry>& entries,
                                                       const Placement& placement,
                                                       const PlacementOptions& options = {});

}  // namespace fourhold::ledger
