// An arena laid out by a ledger: each predicted entry has its place, and is fetched by its key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fourhold/engine/arena/arena.h"
#include "fourhold/ledger/ledger.h"
#include "fourhold/ledger/placement.h"

namespace fourhold::engine {

struct LedgerArenaOptions {
  int threads = 1;               // that touch the pages
  std::int64_t guard_bytes = 0;  // around every entry, filled with a pattern (guards.h)
  std::int64_t least_bytes = 0;  // reserved even where the placement needs less
};

// Holds the entries of place `device`. Entries of other places are refused by the plan's reader.
class LedgerArena {
 public:
  // The ledger must be expanded. Throws Error when its sizes leave 64 bits or the memory is not
  // there.
  LedgerArena(ledger::Ledger ledger, const LedgerArenaOptions& options);

  [[nodiscard]] const ledger::Ledger& ledger() const { return ledger_; }
  [[nodiscard]] const ledger::Placement& placement() const { return placement_; }
  [[nodiscard]] const Arena& arena() const { return arena_; }
  [[nodiscard]] std::int64_t guard_bytes() const { return guard_bytes_; }

  // Index of the entry of that key that is alive at `step`; nothing when none was predicted.
  [[nodiscard]] std::optional<std::size_t> find(const ledger::Key& key, std::int64_t step) const;
  // The bytes of an entry, without its guards.
  [[nodiscard]] std::span<std::byte> bytes_of(std::size_t entry) const;
  [[nodiscard]] std::int64_t offset_of(std::size_t entry) const;

 private:
  ledger::Ledger ledger_;
  ledger::Placement placement_;
  std::int64_t guard_bytes_;
  Arena arena_;
  std::vector<std::size_t> by_key_;  // entries in the order of key, then first step
};

}  // namespace fourhold::engine
