#include "fourhold/api/explain.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fourhold/api/run_json.h"
#include "fourhold/api/run_notes.h"
#include "fourhold/api/run_text.h"
#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/report/table.h"
#include "fourhold/report/text.h"
#include "fourhold/report/why_alive.h"

namespace fourhold::api {
namespace {

Bytes at_peak(const ledger::Entry& entry) { return entry.bytes * entry.copies_at_peak; }
Bytes held(const ledger::Entry& entry) { return entry.bytes * entry.copies; }

std::vector<std::size_t> by_bytes(const std::vector<ledger::Entry>& entries) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&entries](std::size_t a, std::size_t b) {
    const Bytes peak_a = at_peak(entries[a]);
    const Bytes peak_b = at_peak(entries[b]);
    return peak_a != peak_b ? peak_a > peak_b : held(entries[a]) > held(entries[b]);
  });
  return order;
}

// Entries that are held for one reason, largest first.
struct Group {
  std::string_view why;
  Bytes bytes;
  std::vector<std::size_t> entries;
};

std::vector<Group> groups_of(const ExplainResult& result) {
  std::vector<Group> groups;
  for (const std::size_t index : result.order) {
    const ledger::Entry& entry = result.ledger().entries[index];
    const std::string_view why = report::why_alive(entry);
    auto group = std::find_if(groups.begin(), groups.end(),
                              [why](const Group& one) { return one.why == why; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{why, {}, {}});
    group->bytes += at_peak(entry);
    group->entries.push_back(index);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.bytes > b.bytes; });
  return groups;
}

// "layer.0.q_weight" with 32 copies stands for layers 0 to 31 of one kind.
std::string copies_text(const ledger::Entry& entry) {
  if (entry.place == ledger::Place::host) return fmt::format("{} on host", entry.copies);
  if (entry.copies == entry.copies_at_peak) return std::to_string(entry.copies);
  return fmt::format("{} of {}", entry.copies_at_peak, entry.copies);
}

json::Value entry_json(const ledger::Entry& entry) {
  json::Array shape;
  for (const std::int64_t size : entry.shape) shape.emplace_back(size);
  return json::Object{{"name", to_string(entry.key)},
                      {"category", to_string(entry.category)},
                      {"place", to_string(entry.place)},
                      {"shape", std::move(shape)},
                      {"dtype", to_string(entry.dtype)},
                      {"bytes", entry.bytes.count()},
                      {"copies", entry.copies},
                      {"copies_at_peak", entry.copies_at_peak},
                      {"bytes_at_peak", at_peak(entry).count()},
                      {"why", report::why_alive(entry)}};
}

}  // namespace

ExplainResult explain(const ExplainRequest& request) {
  Run run = load_run(request.run);
  ExplainResult result;
  result.planned = choose_plan(run);
  result.name = display_name(run.model.name);
  result.counts = run.counts;
  if (run.target) result.device = run.target->cluster.device.name;
  result.stage = request.stage.value_or(result.planned.memory.peak_stage);
  const auto stages = static_cast<std::int64_t>(result.planned.memory.stages.size());
  if (result.stage >= stages) {
    throw Error("--stage", fmt::format("is {}, but the plan has {} stage{}", result.stage, stages,
                                       stages == 1 ? "" : "s"),
                stages == 1 ? "leave it out" : fmt::format("use 0 to {}", stages - 1));
  }
  result.order = by_bytes(result.ledger().entries);
  result.chosen = std::move(run.chosen);
  result.notes = std::move(run.notes);
  add_run_notes(result.planned, run.profile, result.notes);
  return result;
}

json::Value to_json(const ExplainResult& result) {
  const ledger::Ledger& ledger = result.ledger();
  json::Array entries;
  for (const std::size_t index : result.order) {
    entries.push_back(entry_json(ledger.entries[index]));
  }
  return json::Object{{"schema", "fourhold.explain/1"},
                      {"model", model_json(result.name, result.counts)},
                      {"plan", plan::to_json(result.planned.plan)},
                      {"chosen", texts_json(result.chosen)},
                      {"stage", result.stage},
                      {"peak", json::Object{{"bytes", ledger.live_peak_bytes.count()},
                                            {"step", ledger.peak_step}}},
                      {"entries", std::move(entries)},
                      {"ledger", ledger::to_json(ledger)},
                      {"notes", texts_json(result.notes)}};
}

std::string to_text(const ExplainResult& result, const report::Screen& screen) {
  const ledger::Ledger& ledger = result.ledger();
  const std::vector<Group> groups = groups_of(result);
  const std::string peak = fmt::format(": {} at the peak", format_bytes(ledger.live_peak_bytes));
  const std::string stage =
      result.planned.plan.pp > 1
          ? fmt::format("stage {} of {}", result.stage, result.planned.plan.pp)
          : std::string("one device");
  std::string text = subject_text(result.name, stage, 1, screen, report::columns_of(peak)) + peak +
                     "\n";
  text += report::first_that_fits(
              {fmt::format("The peak is in {}.", ledger.peak_step), ledger.peak_step},
              screen.columns) +
          "\n";
  if (!groups.empty()) {
    text += report::first_that_fits(
                {fmt::format("Most of it, {}: {}.", format_bytes(groups.front().bytes),
                             groups.front().why),
                 std::string(groups.front().why)},
                screen.columns) +
            "\n";
  }
  text += "\n" + plan_text(result.planned.plan, result.chosen, screen);
  for (const Group& group : groups) {
    text += "\n" + title_text(fmt::format("{}  {}", format_bytes(group.bytes), group.why), screen);
    report::Table table({{"at the peak", report::Align::right},
                         {"copies", report::Align::right},
                         {"each", report::Align::right},
                         {"dtype"},
                         {"shape", report::Align::left, report::WhenTight::cut},
                         {"name", report::Align::left, report::WhenTight::cut}});
    for (const std::size_t index : group.entries) {
      const ledger::Entry& entry = ledger.entries[index];
      table.add({format_bytes(at_peak(entry)), copies_text(entry), format_bytes(entry.bytes),
                 std::string(to_string(entry.dtype)), to_string(entry.shape),
                 to_string(entry.key)});
    }
    text += table.text(screen, 0);
  }
  return text;
}

}  // namespace fourhold::api
