// What every rank of a run held and sent, predicted beside measured.
#pragma once

#include <span>
#include <string>

#include "fourhold/base/json.h"
#include "fourhold/engine/train/rank_results.h"
#include "fourhold/report/screen.h"

namespace fourhold::engine_app {

using RankResults = std::span<const engine::RankResult>;

// {"predicted", "measured", "entries", "entries_differing"}, summed over the ranks.
[[nodiscard]] json::Value sum_json(RankResults ranks);
// {"peak_rss_bytes", "arena_bytes", "outside_arena_bytes"}, summed over the ranks: each peak is its
// own rank's, and they need not be at one time.
[[nodiscard]] json::Value process_sum_json(RankResults ranks);
// [{"rank", "stage", "ledger", "process"}].
[[nodiscard]] json::Value ranks_json(RankResults ranks);
// {"predicted_bytes", "measured_bytes"}, of all ranks and steps.
[[nodiscard]] json::Value traffic_json(RankResults ranks);

// The answer whether bytes agree on several ranks.
[[nodiscard]] std::string ranks_bytes_text(RankResults ranks);
// A table with a row for each rank.
[[nodiscard]] std::string ranks_text(RankResults ranks, const report::Screen& screen);
// Whether all ranks of the job together have sent the bytes that were predicted.
[[nodiscard]] bool sent_as_predicted(RankResults ranks);

}  // namespace fourhold::engine_app
