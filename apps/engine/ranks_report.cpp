#include "apps/engine/ranks_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "apps/engine/ledger_report.h"
#include "fourhold/base/quantity.h"
#include "fourhold/report/table.h"
#include "fourhold/report/text.h"

namespace fourhold::engine_app {
namespace {

using engine::RankResult;
using report::Align;

json::Value ledger_json(const RankResult& rank) {
  return ledgers_json(rank.predicted, rank.measured, rank.entries, rank.entries_differing);
}

json::Value process_json(const RankResult& rank) {
  return json::Object{{"peak_rss_bytes", rank.peak_resident_bytes.count()},
                      {"arena_bytes", rank.arena_bytes.count()},
                      {"outside_arena_bytes", rank.outside_arena_bytes.count()}};
}

RankResult sum_of(RankResults ranks) {
  RankResult sum = ranks.front();
  for (const RankResult& rank : ranks.subspan(1)) {
    sum.predicted += rank.predicted;
    sum.measured += rank.measured;
    sum.entries += rank.entries;
    sum.entries_differing += rank.entries_differing;
    sum.predicted_traffic_bytes += rank.predicted_traffic_bytes;
    sum.measured_traffic_bytes += rank.measured_traffic_bytes;
    sum.peak_resident_bytes += rank.peak_resident_bytes;
    sum.arena_bytes += rank.arena_bytes;
    sum.outside_arena_bytes += rank.outside_arena_bytes;
  }
  return sum;
}

json::Value traffic_of(const RankResult& rank) {
  return json::Object{{"predicted_bytes", rank.predicted_traffic_bytes},
                      {"measured_bytes", rank.measured_traffic_bytes}};
}

}  // namespace

json::Value sum_json(RankResults ranks) { return ledger_json(sum_of(ranks)); }

json::Value process_sum_json(RankResults ranks) { return process_json(sum_of(ranks)); }

json::Value ranks_json(RankResults ranks) {
  json::Array all;
  for (const RankResult& rank : ranks) {
    all.emplace_back(json::Object{{"rank", rank.rank},
                                  {"stage", rank.stage},
                                  {"ledger", ledger_json(rank)},
                                  {"process", process_json(rank)},
                                  {"traffic", traffic_of(rank)}});
  }
  return all;
}

json::Value traffic_json(RankResults ranks) { return traffic_of(sum_of(ranks)); }

std::string ranks_bytes_text(RankResults ranks) {
  const RankResult sum = sum_of(ranks);
  if (sum.entries_differing > 0) {
    return fmt::format("predicted and measured differ in {} of {} entries of {} ranks",
                       format_count(sum.entries_differing), format_count(sum.entries),
                       ranks.size());
  }
  const auto largest =
      std::max_element(ranks.begin(), ranks.end(), [](const RankResult& a, const RankResult& b) {
        return a.measured.live_peak_bytes < b.measured.live_peak_bytes;
      });
  return fmt::format("predicted = measured on {} ranks: {} entries, peak {}", ranks.size(),
                     format_count(sum.entries), format_bytes(largest->measured.live_peak_bytes));
}

std::string ranks_text(RankResults ranks, const report::Screen& screen) {
  report::Table table({{"rank"},
                       {"stage", Align::right},
                       {"live peak", Align::right},
                       {"arena", Align::right},
                       {"differing", Align::right},
                       {"sent", Align::right},
                       {"process", Align::right}});
  for (const RankResult& rank : ranks) {
    table.add({std::to_string(rank.rank), std::to_string(rank.stage),
               format_bytes(rank.measured.live_peak_bytes),
               format_bytes(rank.measured.reserved_bytes), format_count(rank.entries_differing),
               format_bytes(Bytes(rank.measured_traffic_bytes)),
               format_bytes(rank.peak_resident_bytes)});
  }
  const RankResult sum = sum_of(ranks);
  return table.text(screen) +
         report::wrapped(fmt::format("{} by all ranks, {} predicted{}",
                                     format_bytes(Bytes(sum.measured_traffic_bytes)),
                                     format_bytes(Bytes(sum.predicted_traffic_bytes)),
                                     sent_as_predicted(ranks) ? ": equal" : ": they differ"),
                         screen.columns, "Sent     ");
}

bool sent_as_predicted(RankResults ranks) {
  return std::all_of(ranks.begin(), ranks.end(), [](const RankResult& rank) {
    return rank.predicted_traffic_bytes == rank.measured_traffic_bytes;
  });
}

}  // namespace fourhold::engine_app
