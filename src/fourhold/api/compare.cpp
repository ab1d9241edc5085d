#include "fourhold/api/compare.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "fourhold/api/run_text.h"
#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/base/text_file.h"
#include "fourhold/model/catalogue.h"
#include "fourhold/report/table.h"
#include "fourhold/report/text.h"

namespace fourhold::api {
namespace {

constexpr std::int64_t kMaxLedgerBytes = std::int64_t{1} << 28;  // an expanded ledger is large
constexpr std::size_t kMostRows = 40;                            // of text; JSON has all

void refuse_model_name(const std::string& path) {
  const std::vector<std::string_view> names = model::catalogue_names();
  if (std::find(names.begin(), names.end(), path) == names.end()) return;
  if (std::filesystem::exists(path)) return;
  throw Error(path, "is a model, and compare takes two ledgers",
              fmt::format("write one: `fourhold explain {} --json > a.json`; `train --out` writes "
                          "the predicted and the measured one",
                          path));
}

ledger::Ledger read_ledger(const std::string& path) {
  refuse_model_name(path);
  const json::Value document = json::parse(read_text_file(path, kMaxLedgerBytes), path);
  if (document.is_object()) {
    if (const json::Value* inside = document.find("ledger")) {
      return ledger::ledger_from_json(*inside, path + ": ledger");
    }
  }
  if (!document.is_object() || document.find("schema") == nullptr) {
    throw Error(path, "is JSON, but no ledger",
                "`explain MODEL --json` and `train --out` write ledgers");
  }
  return ledger::ledger_from_json(document, path);
}

std::string signed_text(Bytes bytes) { return (bytes > Bytes(0) ? "+" : "") + format_bytes(bytes); }

std::string what_differs(const ledger::CompareRow& row) {
  if (row.only_in == ledger::OnlyIn::a) return "only in A";
  if (row.only_in == ledger::OnlyIn::b) return "only in B";
  return fmt::format("{}", fmt::join(row.fields, ", "));
}

std::string rows_text(const ledger::Comparison& comparison, const report::Screen& screen) {
  std::vector<const ledger::CompareRow*> rows;
  for (const ledger::CompareRow& row : comparison.rows) {
    if (row.differs()) rows.push_back(&row);
  }
  if (rows.empty()) return {};
  const auto size = [](const ledger::CompareRow* row) {
    return std::abs(row->bytes.difference().count());
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&size](const auto* a, const auto* b) { return size(a) > size(b); });
  report::Table table({{"difference", report::Align::right},
                       {"A", report::Align::right},
                       {"B", report::Align::right},
                       {"entry", report::Align::left, report::WhenTight::wrap},
                       {"what differs", report::Align::left, report::WhenTight::wrap}});
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    const ledger::CompareRow& row = *rows[i];
    table.add({signed_text(row.bytes.difference()), format_bytes(row.bytes.a),
               format_bytes(row.bytes.b), row.key, what_differs(row)});
  }
  std::string text =
      title_text("Entries that differ, largest difference first", screen) + table.text(screen, 0);
  if (rows.size() > kMostRows) {
    text += fmt::format("... and {} more: --json has all\n", rows.size() - kMostRows);
  }
  return text;
}

std::string categories_text(const ledger::Comparison& comparison, const report::Screen& screen) {
  report::Table table({{"category"},
                       {"A", report::Align::right},
                       {"B", report::Align::right},
                       {"difference", report::Align::right}});
  const auto add = [&table](std::string_view name, const ledger::BytesPair& pair) {
    if (pair.a == Bytes(0) && pair.b == Bytes(0)) return;
    table.add({std::string(name), format_bytes(pair.a), format_bytes(pair.b),
               signed_text(pair.difference())});
  };
  for (std::size_t i = 0; i < comparison.by_category.size(); ++i) {
    add(to_string(static_cast<ledger::Category>(i)), comparison.by_category[i].at_peak);
  }
  add("live peak", comparison.live_peak);
  add("arena", comparison.reserved);
  add("host", comparison.host);
  return title_text("At the peak", screen) + table.text(screen, 2);
}

}  // namespace

CompareResult compare(const CompareRequest& request) {
  if (request.a.empty() || request.b.empty()) {
    throw Error(request.a.empty() ? "A" : "B", "is missing",
                "name two ledger files: `fourhold explain MODEL --json > a.json` writes one");
  }
  CompareResult result{request.a, request.b, {}};
  const ledger::Ledger first = read_ledger(request.a);
  result.comparison = ledger::compare(first, read_ledger(request.b));
  return result;
}

json::Value to_json(const CompareResult& result) { return ledger::to_json(result.comparison); }

std::string to_text(const CompareResult& result, const report::Screen& screen) {
  const ledger::Comparison& comparison = result.comparison;
  const std::string peak_a = format_bytes(comparison.live_peak.a);
  const std::string peak_b = format_bytes(comparison.live_peak.b);
  std::string text;
  if (comparison.is_equal()) {
    text = fmt::format("The ledgers are equal: {} entries, {} at the peak.", comparison.entries_a,
                       peak_a);
  } else {
    text = fmt::format("The ledgers differ in {} of {} entries; at the peak {} and {}.",
                       comparison.entries_differing, comparison.rows.size(), peak_a, peak_b);
  }
  text = report::wrapped(text, screen.columns);
  text += report::wrapped(result.a, screen.columns, "A  ");
  text += report::wrapped(result.b, screen.columns, "B  ");
  text += "\n" + categories_text(comparison, screen);
  const std::string rows = rows_text(comparison, screen);
  if (!rows.empty()) text += "\n" + rows;
  return text;
}

}  // namespace fourhold::api
