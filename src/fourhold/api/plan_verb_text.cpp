// What `fourhold plan` prints: the split, its speed and the next step in three lines, then the
// evidence.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fourhold/api/plan_difference.h"
#include "fourhold/api/plan_file.h"
#include "fourhold/api/plan_verb.h"
#include "fourhold/api/plan_verb_tables.h"
#include "fourhold/api/run_text.h"
#include "fourhold/api/time_text.h"
#include "fourhold/base/quantity.h"
#include "fourhold/report/duration.h"
#include "fourhold/report/scaling_svg.h"
#include "fourhold/report/text.h"

namespace fourhold::api {
namespace {

using predict::VerdictClass;

Subject subject_of(const PlanVerbResult& result) {
  return {result.name, result.best().name(), result.best().count};
}

std::string first_line(const PlanVerbResult& result, const report::Screen& screen) {
  const SearchedDevice& best = result.best();
  const RankedPlan& plan = best.shown();
  if (best.plans.empty()) {
    const std::string missing = format_bytes(best.verdict.missing_bytes);
    const std::string_view memory = short_memory_text(best.verdict);
    return headline(subject_of(result),
                    {fmt::format("no split fits; {} memory lacks {}", memory, missing),
                     fmt::format("none fits, {} lacks {}", memory, missing)},
                    report::Ink::bad, screen);
  }
  const std::string pace = pace_text(plan.time);
  if (best.verdict.verdict == VerdictClass::fits_but_takes_too_long) {
    const std::string days = days_of_limit_text(*plan.time.run);
    return headline(subject_of(result),
                    {fmt::format("fits, but takes too long: {} per step, {}",
                                 report::seconds_text(plan.time.step->step_seconds), days),
                     "fits, but too long: " + days},
                    report::Ink::good, screen);
  }
  return headline(subject_of(result),
                  {fmt::format("fits: {}, {} tokens/s", pace, tokens_per_second(plan)),
                   fmt::format("fits: {}", pace)},
                  report::Ink::good, screen);
}

// The split whole, whatever its length: on two lines before it is cut.
std::string second_line(const PlanVerbResult& result, const report::Screen& screen) {
  const RankedPlan& plan = result.best().shown();
  const std::string label = result.best().plans.empty() ? "Nearest: " : "Split: ";
  const std::string split = split_text(plan.plan);
  const std::string brief = split_text(plan.plan, SplitWords::brief);
  const std::string holds =
      !result.other_batch.empty()
          ? result.other_batch
          : held_text(result.best().verdict, plan.memory, result.best().capacity);
  const int room = screen.columns - report::columns_of(label);
  const std::string brief_holds = holds.substr(0, holds.find(", not "));
  std::vector<std::string> texts{split + "; " + holds, split + "; " + brief_holds};
  // What was chosen against the rule must be said; what is held stands in Why.
  if (result.other_batch.empty()) texts.push_back(split);
  texts.insert(texts.end(), {brief + "; " + brief_holds, brief});
  for (const std::string& text : texts) {
    if (report::columns_of(text) <= room) return label + text + "\n";
  }
  return report::wrapped(texts.back(), screen.columns, label);
}

std::string third_line(const PlanVerbResult& result, const report::Screen& screen) {
  const predict::Verdict& verdict = result.best().verdict;
  if (result.best().plans.empty()) return first_answer_text(verdict, screen);
  if (verdict.verdict == VerdictClass::fits_but_takes_too_long) {
    return first_answer_text(verdict, screen, deadline_lead(result.best().shown().time));
  }
  if (std::string close = closeness_text(result.best().shown().sure, screen); !close.empty()) {
    return close;
  }
  const std::string next =
      result.output.empty() ? "Next: the same with -o plan.json, then `fourhold explain plan.json`."
                            : fmt::format("Next: `fourhold explain {}` lists what it holds.",
                                          report::printable(result.output));
  return report::first_that_fits({next, "Next: the same with -o plan.json."}, screen.columns) +
         "\n";
}

PredictResult as_prediction(const PlanVerbResult& result) {
  const SearchedDevice& best = result.best();
  PredictResult out;
  out.name = result.name;
  out.counts = result.counts;
  out.planned = {best.shown().plan, best.shown().memory, best.capacity};
  out.device = best.name();
  out.verdict = best.verdict;
  out.time = best.shown().time;
  out.sure = best.shown().sure;
  return out;
}

// Why a plan can be faster than the proven best: it is none of those that are searched. "" where it
// is not.
std::string outside_text(const PlanVerbResult& result, const report::Screen& screen) {
  const PredictResult& asked = *result.asked;
  if (!asked.time.step || result.best().plans.empty()) return {};
  if (asked.time.step->step_seconds >= result.best().plans.front().time.step->step_seconds) {
    return {};
  }
  const plan::Plan& plan = asked.planned.plan;
  const std::vector<std::int64_t>& layout = plan.layers_per_stage;
  const bool uneven = plan.vpp > 1 && std::adjacent_find(layout.begin(), layout.end(),
                                                         std::not_equal_to<>()) != layout.end();
  const std::string why =
      uneven
          ? "its virtual stages are uneven, and the search covers pp x vpp that divide the layers"
          : "it has a field that the search does not vary";
  return report::wrapped("keep A: it is faster than all that was searched, because " + why,
                         screen.columns, "Note    ");
}

std::string asked_text(const PlanVerbResult& result, const report::Screen& screen) {
  if (!result.asked) return {};
  return title_text("A as asked, B the fastest that was found", screen) +
         outside_text(result, screen) +
         difference_text(*result.asked, as_prediction(result), screen);
}

void add_section(std::string& text, const std::string& section) {
  if (!section.empty()) text += "\n" + section;
}

}  // namespace

std::string to_text(const PlanVerbResult& result, const report::Screen& screen) {
  if (!result.changed.empty()) return difference_text(result.changed[0], result.changed[1], screen);
  const SearchedDevice& best = result.best();
  const RankedPlan& plan = best.shown();
  std::string text = first_line(result, screen);
  text += second_line(result, screen);
  text += third_line(result, screen);
  text += "\n" + report::wrapped(best.verdict.explanation, screen.columns, "Why     ");
  text += sureness_text(plan.sure, screen);
  const bool fits = !best.plans.empty();
  if (fits) text += speed_lines(plan.time, plan.plan, screen);
  text += plan_text(plan.plan, result.chosen, screen);
  add_section(text, asked_text(result, screen));
  add_section(text, baselines_text(result, screen));
  add_section(text, devices_text(result, screen));
  add_section(text, plans_text(result, screen));
  if (fits) add_section(text, parts_text(plan.time, screen));
  add_section(text, scaling_text(result, screen));
  add_section(text, answers_text(best.verdict, screen));
  add_section(text, pareto_text(result, screen));
  add_section(text, rejected_text(result, screen));
  return text;
}

std::string plan_file_of(const PlanVerbResult& result) {
  if (!result.changed.empty() || result.best().plans.empty()) return {};
  TargetRequest target = result.best().run.target_request;
  target.device = exact_devices(target.device);
  return plan_file_text(result.model, target, result.time, result.best().plans.front().plan);
}

std::string svg_of(const PlanVerbResult& result) {
  std::vector<report::ScalingMark> marks;
  for (const search::ScalingPoint& point : result.scaling) {
    if (point.plan) marks.push_back({point.devices, point.speedup, point.speedup_kept});
  }
  const RankedPlan& plan = result.best().shown();
  const Subject subject = subject_of(result);
  return report::draw_scaling_svg(
      marks,
      plan.time.step && plan.time.step->parts ? *plan.time.step->parts : predict::PartSeconds{},
      subject_text(subject, 200) + ": " + split_text(plan.plan));
}

}  // namespace fourhold::api
