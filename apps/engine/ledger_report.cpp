#include "apps/engine/ledger_report.h"

#include <utility>

#include <fmt/format.h>

#include "fourhold/base/quantity.h"
#include "fourhold/report/table.h"
#include "fourhold/report/text.h"

namespace fourhold::engine_app {
namespace {

using report::Align;

json::Value totals_json(const engine::LedgerTotals& totals) {
  json::Object categories;
  for (int i = 0; i < ledger::kCategoryCount; ++i) {
    const auto category = static_cast<ledger::Category>(i);
    const Bytes own = totals.by_category[static_cast<std::size_t>(i)];
    if (own == Bytes(0) && !ledger::held_in_training(category)) continue;
    categories.emplace_back(std::string(ledger::to_string(category)), json::Value(own.count()));
  }
  return json::Object{{"by_category", std::move(categories)},
                      {"live_peak_bytes", totals.live_peak_bytes.count()},
                      {"reserved_bytes", totals.reserved_bytes.count()}};
}

}  // namespace

json::Value ledgers_json(const engine::LedgerTotals& predicted,
                         const engine::LedgerTotals& measured, std::int64_t entries,
                         std::int64_t entries_differing) {
  return json::Object{{"predicted", totals_json(predicted)},
                      {"measured", totals_json(measured)},
                      {"entries", entries},
                      {"entries_differing", entries_differing}};
}

std::string bytes_text(const ledger::Ledger& measured, const ledger::Comparison& comparison) {
  if (comparison.is_equal()) {
    return fmt::format("predicted = measured: {} entries, live peak {}, arena {}",
                       format_count(comparison.entries_a), format_bytes(measured.live_peak_bytes),
                       format_bytes(measured.reserved_bytes));
  }
  return fmt::format("predicted and measured differ in {} of {} entries",
                     format_count(comparison.entries_differing),
                     format_count(comparison.entries_a));
}

std::string ledgers_text(const ledger::Ledger& predicted, const ledger::Ledger& measured,
                         const ledger::Comparison& comparison, const report::Screen& screen) {
  report::Table table({{"at the peak"},
                       {"predicted", Align::right},
                       {"measured", Align::right},
                       {"differs by", Align::right}});
  const auto add = [&table](std::string name, Bytes a, Bytes b) {
    table.add(
        {std::move(name), format_bytes(a), format_bytes(b), format_count((b - a).count()) + " B"});
  };
  const ledger::CategoryBytes of_predicted = predicted.at_peak_by_category();
  const ledger::CategoryBytes of_measured = measured.at_peak_by_category();
  for (int i = 0; i < ledger::kCategoryCount; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (of_predicted[at] == Bytes(0) && of_measured[at] == Bytes(0)) continue;
    add(std::string(ledger::to_string(static_cast<ledger::Category>(i))), of_predicted[at],
        of_measured[at]);
  }
  add("live peak", predicted.live_peak_bytes, measured.live_peak_bytes);
  add("arena", predicted.reserved_bytes, measured.reserved_bytes);
  std::string text = table.text(screen);
  int shown = 0;
  for (const ledger::CompareRow& row : comparison.rows) {
    if (!row.differs() || ++shown > 10) continue;
    text += report::wrapped(fmt::format("{} ({} predicted, {} measured)", row.key,
                                        format_bytes(row.bytes.a), format_bytes(row.bytes.b)),
                            screen.columns, "differs: ");
  }
  return text;
}

}  // namespace fourhold::engine_app
