// Predicted beside measured bytes, as every verb that reserves an arena states them.
#pragma once

#include <cstdint>
#include <string>

#include "fourhold/base/json.h"
#include "fourhold/engine/train/rank_results.h"
#include "fourhold/ledger/compare.h"
#include "fourhold/ledger/ledger.h"
#include "fourhold/report/screen.h"

namespace fourhold::engine_app {

// {predicted, measured, entries, entries_differing} (docs/json.md).
[[nodiscard]] json::Value ledgers_json(const engine::LedgerTotals& predicted,
                                       const engine::LedgerTotals& measured, std::int64_t entries,
                                       std::int64_t entries_differing);

// One line without its end: whether the bytes are equal.
[[nodiscard]] std::string bytes_text(const ledger::Ledger& measured,
                                     const ledger::Comparison& comparison);

// A table by category, and the first entries that differ.
[[nodiscard]] std::string ledgers_text(const ledger::Ledger& predicted,
                                       const ledger::Ledger& measured,
                                       const ledger::Comparison& comparison,
                                       const report::Screen& screen);

}  // namespace fourhold::engine_app
