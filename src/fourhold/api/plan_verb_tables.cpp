#include "fourhold/api/plan_verb_tables.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fourhold/api/run_text.h"
#include "fourhold/base/quantity.h"
#include "fourhold/report/duration.h"
#include "fourhold/report/table.h"
#include "fourhold/report/text.h"

namespace fourhold::api {
namespace {

using predict::VerdictClass;

constexpr std::size_t kMostPointsPerCount = 6;  // of a Pareto front; JSON has all

std::string days_cell(const RankedPlan& plan) {
  return plan.time.run ? report::days_text(plan.time.run->days) : "";
}

}  // namespace

std::string reason_text(std::string_view reason) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kTexts{
      {{"devices", "tp x pp x cp does not divide the devices"},
       {"global_batch", "the replicas do not divide the global batch"},
       {"experts", "ep does not divide dp x cp"},
       {"widths", "tp does not divide the model's widths"},
       {"sequence", "the sequence does not split over cp and tp"},
       {"profile", "the profile has no such split"},
       {"shard_groups", "the shard groups do not divide dp x cp / ep"},
       {"rounds", "interleaving needs micro-batches in multiples of pp"},
       {"device_memory", "more than the device has"},
       {"host_memory", "more than the host has"},
       {"fragmentation", "no placement within the device"}}};
  for (const auto& [name, text] : kTexts) {
    if (name == reason) return std::string(text);
  }
  return std::string(reason);
}

namespace {

// Of one device count's points the two ends and some between, evenly: indices into the whole front.
std::vector<std::size_t> thinned(std::size_t begin, std::size_t end) {
  const std::size_t count = end - begin;
  const std::size_t shown = std::min(count, kMostPointsPerCount);
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < shown; ++i) {
    indices.push_back(shown == 1 ? begin : begin + i * (count - 1) / (shown - 1));
  }
  return indices;
}

}  // namespace

std::string tokens_per_second(const RankedPlan& plan) {
  return report::rate_text(plan.time.step->tokens_per_second_per_device *
                           static_cast<double>(plan.plan.devices()));
}

std::string baselines_text(const PlanVerbResult& result, const report::Screen& screen) {
  // The curve below starts from one device at its best micro-batch: other figures, and why.
  std::string text =
      title_text("Without a split: a full copy, micro-batch 1, nothing recomputed", screen);
  for (const Baseline& baseline : result.baselines) {
    const std::string label =
        baseline.kind == "one_device" ? "  one device     " : "  data parallel  ";
    std::string answer;
    switch (baseline.verdict) {
      case VerdictClass::fits:
        answer = "fits: ";
        break;
      case VerdictClass::fits_but_takes_too_long:
        answer = "fits, but takes too long: ";
        break;
      case VerdictClass::state_does_not_fit:
      case VerdictClass::activations_do_not_fit:
        answer = "does not fit: ";
        break;
    }
    text += report::wrapped(answer + baseline.why, screen.columns, label);
  }
  return text;
}

std::string devices_text(const PlanVerbResult& result, const report::Screen& screen) {
  if (result.devices.size() < 2) return {};
  report::Table table({{"device"},
                       {"tokens/s", report::Align::right},
                       {"run", report::Align::right},
                       {"cost", report::Align::right},
                       {"fastest split", report::Align::left, report::WhenTight::wrap}});
  for (const SearchedDevice& device : result.devices) {
    const RankedPlan& plan = device.shown();
    const std::string name = fmt::format("{} x {}", device.count, device.name());
    if (device.plans.empty()) {
      table.add({name, "", "", "",
                 fmt::format("none fits: {} memory lacks {}", short_memory_text(device.verdict),
                             format_bytes(device.verdict.missing_bytes))});
      continue;
    }
    const bool priced = plan.time.run && plan.time.run->cost_usd;
    table.add({name, tokens_per_second(plan), days_cell(plan),
               priced ? report::dollars_text(*plan.time.run->cost_usd) : "",
               split_text(plan.plan)});
  }
  return title_text("Devices compared", screen) + table.text(screen, 2);
}

std::string plans_text(const PlanVerbResult& result, const report::Screen& screen) {
  const std::vector<Alternative>& plans = result.best().alternatives;
  if (plans.empty()) return {};
  report::Table table({{"", report::Align::right},
                       {"step", report::Align::right},
                       {"per device", report::Align::right},
                       {"split", report::Align::left, report::WhenTight::wrap},
                       {"alike", report::Align::right}});
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const TimedPlan& plan = plans[i].shown;
    table.add({std::to_string(i + 1), report::seconds_text(plan.step_seconds),
               format_bytes(Bytes(plan.device_bytes)), split_text(plan.plan),
               plans[i].alike > 0 ? fmt::format("+{}", plans[i].alike) : ""});
  }
  return title_text("The fastest plans", screen) + table.text(screen, 1) +
         report::wrapped(
             fmt::format("alike: left out of the {} fastest, because neither step nor memory is "
                         "{} off that line's, or more layers of it are recomputed; --json has the "
                         "ten fastest as they are.",
                         format_count(static_cast<std::int64_t>(result.best().result.plans.size())),
                         report::percent_text(kAlikeShare)),
             screen.columns, "  ");
}

std::string scaling_text(const PlanVerbResult& result, const report::Screen& screen) {
  if (result.scaling.empty()) return {};
  const plan::Plan& plan = result.best().shown().plan;
  report::Table table({{"devices", report::Align::right},
                       {"tokens/s", report::Align::right},
                       {"speed-up", report::Align::right},
                       {"kept", report::Align::right},
                       {"how", report::Align::left, report::WhenTight::wrap}});
  for (const search::ScalingPoint& point : result.scaling) {
    if (!point.plan) {
      const std::int64_t replica = plan.tp * plan.pp * plan.cp;
      table.add({format_count(point.devices), "", "", "",
                 point.devices % replica == 0
                     ? std::string("does not fit")
                     : fmt::format("a replica of this split takes {} devices", replica)});
      continue;
    }
    table.add({format_count(point.devices), report::rate_text(point.tokens_per_second),
               fmt::format("{:.2f}", point.speedup), report::percent_text(point.speedup_kept),
               split_text(point.plan->plan)});
  }
  return title_text("More devices, the same global batch: how much of the speed-up is kept",
                    screen) +
         table.text(screen, 2) +
         report::wrapped(
             "Micro-batch, ZeRO, recomputation and offload are the best at each count; the "
             "speed-up is over one device with unlimited memory.",
             screen.columns, "  ");
}

std::string rejected_text(const PlanVerbResult& result, const report::Screen& screen) {
  const search::SearchResult& found = result.best().result;
  const search::SearchCounts& counts = found.counts;
  std::string text =
      title_text(fmt::format("{} candidates: {} fit", format_count(counts.candidates),
                             format_count(counts.pruned + counts.evaluated)),
                 screen);
  report::Table table({{"fell out", report::Align::right},
                       {"because", report::Align::left, report::WhenTight::wrap},
                       {"nearest miss", report::Align::left, report::WhenTight::wrap}});
  for (const search::Rejection& rejection : found.rejected) {
    std::string nearest;
    if (rejection.nearest) {
      nearest = fmt::format("{} short: {}", format_bytes(Bytes(rejection.nearest->missing_bytes)),
                            split_text(rejection.nearest->plan));
    }
    table.add({format_count(rejection.count), reason_text(rejection.reason), nearest});
  }
  text += table.text(screen, 2);
  return text +
         report::wrapped(fmt::format("{} replayed or bounded one by one, {} excluded by bounds in "
                                     "groups, in {}.",
                                     format_count(counts.evaluated), format_count(counts.pruned),
                                     report::seconds_text(counts.seconds)),
                         screen.columns, "  ");
}

std::string pareto_text(const PlanVerbResult& result, const report::Screen& screen) {
  if (!result.pareto) return {};
  const std::vector<search::ParetoPoint>& points = *result.pareto;
  report::Table table({{"devices", report::Align::right},
                       {"allocated", report::Align::right},
                       {"step", report::Align::right},
                       {"split", report::Align::left, report::WhenTight::wrap}});
  std::size_t shown = 0;
  for (std::size_t begin = 0; begin < points.size();) {
    std::size_t end = begin;
    while (end < points.size() && points[end].devices == points[begin].devices) ++end;
    for (const std::size_t index : thinned(begin, end)) {
      const search::ParetoPoint& point = points[index];
      table.add({format_count(point.devices), format_bytes(Bytes(point.live_peak_bytes)),
                 report::seconds_text(point.plan.step_seconds), split_text(point.plan.plan)});
      ++shown;
    }
    begin = end;
  }
  std::string text =
      title_text("Beaten by no other plan in devices, memory and time at once", screen) +
      table.text(screen, 2);
  if (shown < points.size()) {
    text += fmt::format("  ... and {} more: --json has all\n", points.size() - shown);
  }
  return text;
}

}  // namespace fourhold::api
