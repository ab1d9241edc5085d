#include "fourhold/api/explain.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fourhold/api/calibration.h"
#include "fourhold/api/run_json.h"
#include "fourhold/api/run_notes.h"
#include "fourhold/api/run_text.h"
#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/predict/verdict.h"
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

// Entries that are alive at the peak for one reason, largest first.
struct Group {
  std::string_view why;
  Bytes bytes;
  std::vector<std::size_t> entries;
};

std::vector<Group> groups_of(const ExplainResult& result) {
  std::vector<Group> groups;
  for (const std::size_t index : result.order) {
    const ledger::Entry& entry = result.ledger().entries[index];
    if (entry.copies_at_peak == 0) continue;
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

// "12", or "1 of 2" where not all are alive at the peak.
std::string copies_text(const ledger::Entry& entry) {
  if (entry.copies == entry.copies_at_peak || entry.copies_at_peak == 0) {
    return std::to_string(entry.copies);
  }
  return fmt::format("{} of {}", entry.copies_at_peak, entry.copies);
}

bool is_alive(const ledger::Entry& entry) { return entry.copies_at_peak > 0; }

// One line per entry; `size` titles the bytes of all its copies: at the peak, or where it has none
// there, at its own time.
std::string entries_text(const ledger::Ledger& ledger, const std::vector<std::size_t>& entries,
                         const std::string& size, const report::Screen& screen) {
  report::Table table({{size, report::Align::right},
                       {"copies", report::Align::right},
                       {"dtype"},
                       {"shape of one", report::Align::left, report::WhenTight::wrap},
                       {"name", report::Align::left, report::WhenTight::wrap}});
  for (const std::size_t index : entries) {
    const ledger::Entry& entry = ledger.entries[index];
    table.add({format_bytes(is_alive(entry) ? at_peak(entry) : held(entry)), copies_text(entry),
               std::string(to_string(entry.dtype)), to_string(entry.shape), to_string(entry.key)});
  }
  return table.text(screen);
}

bool does_not_fit(const PlannedRun& planned) {
  return planned.capacity && !predict::fits(predict::classify(planned.memory, *planned.capacity));
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
                      {"bytes_held", held(entry).count()},
                      {"why", report::why_alive(entry)}};
}

}  // namespace

ExplainResult explain(const ExplainRequest& request) {
  LoadedRun run = load_run(request.run);
  ExplainResult result;
  result.planned = correct_by_plan(choose_plan(run), run);
  result.name = display_name(run.model.name);
  result.counts = run.counts;
  if (run.target) result.device = run.target->cluster.device.name;
  result.stage = request.stage.value_or(result.planned.memory.peak_stage);
  const auto stages = static_cast<std::int64_t>(result.planned.memory.stages.size());
  if (result.stage >= stages) {
    throw Error("--stage",
                fmt::format("is {}, but the plan has {} stage{}", result.stage, stages,
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
  return json::Object{
      {"schema", "fourhold.explain/1"},
      {"model", model_json(result.name, result.counts)},
      {"plan", plan::to_json(result.planned.plan)},
      {"chosen", texts_json(result.chosen)},
      {"stage", result.stage},
      {"peak", json::Object{{"bytes", ledger.live_peak_bytes.count()}, {"step", ledger.peak_step}}},
      {"entries", std::move(entries)},
      {"ledger", ledger::to_json(ledger)},
      {"notes", texts_json(result.notes)}};
}

std::string to_text(const ExplainResult& result, const report::Screen& screen) {
  const ledger::Ledger& ledger = result.ledger();
  const std::vector<Group> groups = groups_of(result);
  const plan::Plan& plan = result.planned.plan;
  const bool unfit = does_not_fit(result.planned);
  const std::string short_peak = format_bytes(ledger.live_peak_bytes) + " at the peak";
  const std::string peak = short_peak + (unfit ? "; the plan does not fit" : "");
  Subject subject{result.name, result.device, 1};
  if (plan.pp > 1) subject.device = fmt::format("stage {} of {}", result.stage, plan.pp);
  std::string text =
      headline(subject, {peak, short_peak}, unfit ? report::Ink::bad : report::Ink::plain, screen);
  text +=
      report::first_that_fits(
          {fmt::format("The peak is in {}.", ledger.peak_step), ledger.peak_step}, screen.columns) +
      "\n";
  if (!groups.empty()) {
    const std::string size = format_bytes(groups.front().bytes);
    text += report::first_that_fits({fmt::format("Most of it: {} of {}.", size, groups.front().why),
                                     fmt::format("{} of {}", size, groups.front().why)},
                                    screen.columns) +
            "\n";
  }
  ChosenHow how{.searched = result.planned.searched};
  if (unfit) how.search = kNoneFits;
  text += "\n" + plan_text(plan, result.chosen, screen, how);
  for (const Group& group : groups) {
    text += "\n" + title_text(fmt::format("{}  {}", format_bytes(group.bytes), group.why), screen);
    text += entries_text(ledger, group.entries, "at the peak", screen);
  }
  std::vector<std::size_t> elsewhere;
  std::vector<std::size_t> on_host;
  for (const std::size_t index : result.order) {
    const ledger::Entry& entry = ledger.entries[index];
    if (is_alive(entry)) continue;
    (entry.place == ledger::Place::host ? on_host : elsewhere).push_back(index);
  }
  if (!elsewhere.empty()) {
    text += "\n" + title_text("Held at other moments, not at the peak", screen);
    text += entries_text(ledger, elsewhere, "at its time", screen);
  }
  if (!on_host.empty()) {
    text += "\n" + title_text("In host memory", screen);
    text += entries_text(ledger, on_host, "all copies", screen);
  }
  return text;
}

}  // namespace fourhold::api
