// What every rank held and sent, brought together on the first.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fourhold/engine/communicator/communicator.h"
#include "fourhold/ledger/compare.h"
#include "fourhold/ledger/ledger.h"

namespace fourhold::engine {

// A ledger in numbers.
struct LedgerTotals {
  ledger::CategoryBytes by_category{};  // at the live peak
  Bytes live_peak_bytes;
  Bytes reserved_bytes;

  LedgerTotals& operator+=(const LedgerTotals& other);
};
[[nodiscard]] LedgerTotals totals_of(const ledger::Ledger& ledger);

struct RankResult {
  std::int64_t rank = 0;
  std::int64_t stage = 0;
  LedgerTotals predicted;
  LedgerTotals measured;
  std::int64_t entries = 0;
  std::int64_t entries_differing = 0;
  std::int64_t predicted_traffic_bytes = 0;  // sent in the steps of this call
  std::int64_t measured_traffic_bytes = 0;
  Bytes peak_resident_bytes;  // of the rank's process
  Bytes arena_bytes;
  Bytes outside_arena_bytes;
};

// All ranks call it; the first gets every rank's, in order, the others their own.
[[nodiscard]] std::vector<RankResult> gather_results(const RankResult& own,
                                                     Communicator* communicator);

}  // namespace fourhold::engine
