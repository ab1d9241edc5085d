#include "fourhold/api/run_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "fourhold/api/option.h"
#include "fourhold/api/run_notes.h"
#include "fourhold/base/quantity.h"
#include "fourhold/plan/field_value.h"
#include "fourhold/plan/plan_fields.h"
#include "fourhold/report/table.h"
#include "fourhold/report/text.h"

namespace fourhold::api {
namespace {

using predict::VerdictClass;

std::string_view class_text(VerdictClass verdict) {
  switch (verdict) {
    case VerdictClass::fits:
      return "it fits";
    case VerdictClass::state_does_not_fit:
      return "the state still does not fit";
    case VerdictClass::activations_do_not_fit:
      return "activations still do not fit";
    case VerdictClass::fits_but_takes_too_long:
      break;
  }
  return "it fits, but takes too long";
}

// "recompute full" of "recompute full: every layer again in backward", "micro-batch 2 x 4" of
// "micro-batch 2 x 4 accumulation steps, the same global batch": without the explanation.
std::string brief_change(const std::string& change) {
  return change.substr(0, std::min(change.find(": "), change.find(" accumulation steps")));
}

// What is still wrong with it, or that nothing is.
std::string then_text(const predict::Answer& answer) {
  if (answer.then_change) return "it fits with " + brief_change(answer.then_change->change);
  if (answer.then_host_lacks > Bytes(0)) {
    return fmt::format("host memory lacks {} (--host-memory says what there is)",
                       format_bytes(answer.then_host_lacks));
  }
  return std::string(class_text(answer.then_class));
}

bool cures(const predict::Answer& answer) {
  return answer.then_class == VerdictClass::fits || answer.then_change.has_value();
}

// Whether two answers train the same thing with the same formats: they differ in the split alone.
bool differ_in_split(const predict::Answer& a, const predict::Answer& b) {
  return a.plan.tuning == b.plan.tuning && a.plan.offload == b.plan.offload &&
         a.plan.optimizer == b.plan.optimizer && a.plan.precision == b.plan.precision;
}

// A cure beats what does not cure; of two cures alike the one on fewer devices, else the first; of
// two that do not cure the one that saves more.
bool is_better(const predict::Answer& answer, const predict::Answer& best) {
  if (cures(answer) != cures(best)) return cures(answer);
  if (!cures(answer)) return answer.saves_bytes > best.saves_bytes;
  return answer.plan.devices() < best.plan.devices() && differ_in_split(answer, best);
}

const predict::Answer* best_answer(const predict::Verdict& verdict) {
  const predict::Answer* best = nullptr;
  for (const predict::Answer& answer : verdict.answers)
    if (best == nullptr || is_better(answer, *best)) best = &answer;
  return best;
}

// Beside a cure that trains less than was asked for: the first that trains all of it, elsewhere.
const predict::Answer* whole_answer(const predict::Verdict& verdict, const predict::Answer& best) {
  if (best.plan.tuning == plan::Tuning::full) return nullptr;
  for (const predict::Answer& answer : verdict.answers) {
    if (cures(answer) && answer.plan.tuning == plan::Tuning::full) return &answer;
  }
  return nullptr;
}

// The value of one plan field, as a flag would write it.
std::string field_text(const plan::Plan& plan, std::string_view name) {
  std::string text;
  plan::visit_fields(
      [&](const plan::FieldInfo& info, const auto& value) {
        if (info.name != name) return;
        const json::Value field = plan::field_json(value);
        text = field.is_string() ? field.string() : json::write(field, json::Layout::one_line);
      },
      plan);
  return text;
}

}  // namespace

std::string subject_text(const Subject& subject, int columns) {
  const std::string name = report::printable(subject.model);
  std::string where = report::printable(subject.device);
  if (where.empty()) {
    where = subject.devices > 1 ? fmt::format("{} devices", subject.devices) : "one device";
  } else if (subject.devices > 1) {
    where = fmt::format("{} x {}", subject.devices, where);
  }
  constexpr std::string_view kOn = " on ";
  const int room = columns - report::columns_of(kOn);
  const int for_where =
      std::min(report::columns_of(where), std::max(room / 2, room - report::columns_of(name)));
  return report::shortened(name, room - for_where) + std::string(kOn) +
         report::shortened(where, for_where);
}

Wording verdict_wording(const predict::Verdict& verdict, const Sizes& sizes) {
  const Bytes budget = predict::budget_of(sizes.capacity);
  const std::string usable = format_bytes(budget) + predict::headroom_text(sizes.capacity);
  const std::string of = fmt::format("{} of {}", format_bytes(sizes.needed), usable);
  if (verdict.reason == "host_memory") {
    const std::string missing = format_bytes(verdict.missing_bytes);
    return {"does not fit: host memory lacks " + missing, "host memory lacks " + missing};
  }
  switch (verdict.verdict) {
    case VerdictClass::fits:
      return {"fits: " + of, "fits: " + of};
    case VerdictClass::fits_but_takes_too_long:
      return {"fits, but takes too long: " + of, "takes too long"};
    case VerdictClass::state_does_not_fit:
    case VerdictClass::activations_do_not_fit:
      break;
  }
  if (verdict.reason == "headroom") return {"leaves too little free: " + of, "too tight: " + of};
  Wording wording{
      .full = fmt::format("does not fit: needs {}, usable {}", format_bytes(sizes.needed), usable),
      .brief = "does not fit: " + of};
  if (verdict.verdict == VerdictClass::state_does_not_fit && sizes.state > budget) {
    const std::string state = format_bytes(sizes.state);
    wording.full = fmt::format("does not fit: state {}, usable {}", state, usable);
    wording.brief = fmt::format("does not fit: {} of {}", state, usable);
  }
  return wording;
}

std::string headline(const Subject& subject, const Wording& wording, report::Ink ink,
                     const report::Screen& screen) {
  constexpr int kMost = 1 << 20;
  constexpr std::string_view kColon = ": ";
  const std::string whole = subject_text(subject, kMost);
  const int room = screen.columns - report::columns_of(whole) - report::columns_of(kColon);
  const std::string& verdict =
      report::columns_of(wording.full) <= room ? wording.full : wording.brief;
  const int left = screen.columns - report::columns_of(verdict) - report::columns_of(kColon);
  return subject_text(subject, left) + std::string(kColon) + report::painted(verdict, ink, screen) +
         "\n";
}

std::string held_text(const predict::Verdict& verdict, const predict::MemoryPrediction& memory,
                      const predict::Capacity& capacity) {
  if (verdict.reason != "host_memory") {
    return fmt::format("{} of {}{}", format_bytes(predict::shown_bytes(memory, verdict.verdict)),
                       format_bytes(predict::budget_of(capacity)),
                       predict::headroom_text(capacity));
  }
  return fmt::format("{} of {} of host memory", format_bytes(memory.on_host()),
                     format_bytes(*capacity.host_bytes));
}

std::string on_host_text(const predict::MemoryPrediction& memory) {
  std::vector<std::string> parts;
  const auto add = [&parts](Bytes bytes, std::string_view what) {
    if (bytes > Bytes(0)) parts.push_back(fmt::format("{} of {}", format_bytes(bytes), what));
  };
  add(memory.host_bytes, "state");
  add(memory.host_activation_bytes, "activations");
  add(memory.host_staging_bytes - memory.host_activation_bytes, "pinned buffers");
  if (parts.size() < 2) return fmt::format("{}", fmt::join(parts, ""));
  const std::string last = std::move(parts.back());
  parts.pop_back();
  return fmt::format("{} and {}", fmt::join(parts, ", "), last);
}

std::string_view short_memory_text(const predict::Verdict& verdict) {
  return verdict.reason == "host_memory" ? "host" : "device";
}

report::Ink verdict_ink(const predict::Verdict& verdict) {
  return predict::fits(verdict.verdict) ? report::Ink::good : report::Ink::bad;
}

std::string first_answer_text(const predict::Verdict& verdict, const report::Screen& screen,
                              const std::string& lead) {
  const predict::Answer* answer = best_answer(verdict);
  if (answer == nullptr && verdict.verdict == VerdictClass::fits_but_takes_too_long) {
    return report::wrapped(
        "More replicas alone do not make the deadline: allow a larger --global-batch.",
        screen.columns);
  }
  if (answer == nullptr) {
    return report::wrapped("No single change helps: combine a larger split with recomputation.",
                           screen.columns);
  }
  if (verdict.reason == "host_memory" && !cures(*answer)) {
    return report::wrapped(
        fmt::format("Change first: {} more host memory per device, or a smaller offload.",
                    format_bytes(verdict.missing_bytes)),
        screen.columns);
  }
  const std::string start = lead + answer->change;
  if (verdict.verdict == VerdictClass::fits_but_takes_too_long) {
    const std::string& change = answer->change;
    return report::first_that_fits({start + ".", lead + change.substr(0, change.find(" (")) + ".",
                                    lead + change.substr(0, change.find(", with")) + ".",
                                    lead + brief_change(answer->change) + "."},
                                   screen.columns) +
           "\n";
  }
  const std::string step = brief_change(answer->change);
  const predict::Answer* whole = whole_answer(verdict, *answer);
  if (whole != nullptr) {
    const std::string then =
        answer->then_change ? ", then " + brief_change(answer->then_change->change) : "";
    const std::string other = brief_change(whole->change);
    return report::first_that_fits({fmt::format("{}{}{}: it fits; or {}.", lead, step, then, other),
                                    fmt::format("{}{}{}; or {}.", lead, step, then, other),
                                    fmt::format("{}{}; or {}.", step, then, other),
                                    fmt::format("{}; or {}.", step, other)},
                                   screen.columns) +
           "\n";
  }
  if (answer->then_change) {
    const std::string second = brief_change(answer->then_change->change);
    return report::first_that_fits(
               {fmt::format("{}, then {}: it fits.", start, answer->then_change->change),
                fmt::format("{}, then {}: it fits.", start, second),
                fmt::format("{}, then {}.", start, second),
                fmt::format("{}{}, then {}.", lead, step, second)},
               screen.columns) +
           "\n";
  }
  std::string saves = format_bytes(answer->saves_bytes);
  if (verdict.reason == "host_memory") saves += " of host memory";
  const std::string then = then_text(*answer);
  const std::string brief = lead + step;
  return report::first_that_fits({fmt::format("{}; saves {}, then {}.", start, saves, then),
                                  fmt::format("{}; saves {}, then {}.", brief, saves, then),
                                  fmt::format("{}; then {}.", brief, then), brief + "."},
                                 screen.columns) +
         "\n";
}

std::string answers_text(const predict::Verdict& verdict, const report::Screen& screen) {
  if (verdict.answers.empty()) return {};
  const bool timed = std::any_of(
      verdict.answers.begin(), verdict.answers.end(),
      [](const predict::Answer& answer) { return answer.costs_time_percent.has_value(); });
  std::vector<report::Column> columns{
      {"change", report::Align::left, report::WhenTight::wrap},
      {verdict.reason == "host_memory" ? "saves on the host" : "saves", report::Align::right},
      {"then", report::Align::left, report::WhenTight::wrap}};
  if (timed) columns.insert(columns.begin() + 2, {"device time", report::Align::right});
  report::Table table(std::move(columns));
  for (const predict::Answer& answer : verdict.answers) {
    std::vector<std::string> cells{answer.change, format_bytes(answer.saves_bytes),
                                   then_text(answer)};
    if (timed) {
      cells.insert(cells.begin() + 2, answer.costs_time_percent
                                          ? fmt::format("{:+.0f}%", *answer.costs_time_percent)
                                          : "");
    }
    table.add(std::move(cells));
  }
  std::string text = title_text("What to change, easiest first (one change at a time)", screen) +
                     table.text(screen, 2);
  if (timed) {
    text += report::wrapped(
        "Device time: seconds of all devices together for each token, and so the cost: twice the "
        "devices at twice the speed are +0%.",
        screen.columns, "  ");
  }
  if (std::any_of(verdict.answers.begin(), verdict.answers.end(), [](const predict::Answer& one) {
        return one.plan.tuning != plan::Tuning::full;
      })) {
    text += report::wrapped("LoRA: " + std::string(kAdaptersElsewhere) + ".", screen.columns, "  ");
  }
  return text;
}

std::string plan_text(const plan::Plan& plan, const std::vector<std::string>& chosen,
                      const report::Screen& screen, const ChosenHow& how) {
  std::string text = report::wrapped(plan::to_string(plan), screen.columns, "Plan    ");
  std::string defaults;
  std::string found;
  for (const std::string& name : chosen) {
    const auto& searched = how.searched;
    const bool by_search = std::find(searched.begin(), searched.end(), name) != searched.end();
    std::string& list = by_search ? found : defaults;
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", flag_of(name), field_text(plan, name));
  }
  const auto add = [&](std::string_view label, const std::string& list, std::string_view why) {
    if (list.empty()) return;
    text += report::wrapped(fmt::format("{} (not given, {})", list, why), screen.columns, label);
  };
  add("Chosen  ", defaults, how.defaults);
  add("Found   ", found, how.search);
  return text;
}

std::string split_text(const plan::Plan& plan, SplitWords words) {
  const bool brief = words == SplitWords::brief;
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  const auto degree = [&](std::string_view name, std::int64_t value, std::int64_t most_unsaid) {
    if (value <= most_unsaid) return;
    const std::string part = fmt::format("{} {}", name, value);
    if (brief && !text.empty()) {
      text += " " + part;
    } else {
      add(part);
    }
  };
  degree("tp", plan.tp, 1);
  degree("pp", plan.pp, 1);
  degree("vpp", plan.vpp, 1);
  degree("cp", plan.cp, 1);
  degree("ep", plan.ep, 1);
  degree("dp", plan.dp, 1);
  degree("zero", plan.zero, 0);
  degree(brief ? "groups" : "shard groups", plan.shard_groups, 1);
  add(fmt::format("{} {} x {}", brief ? "batch" : "micro-batch", plan.micro_batch,
                  plan.grad_accum));
  const std::string recompute = plan::to_string(plan.recompute);
  if (recompute != "none") add(brief ? recompute : "recompute " + recompute);
  if (plan.offload != plan::Offload::none) {
    add(fmt::format("offload {}", plan::kOffloadNames[static_cast<std::size_t>(plan.offload)]));
  }
  if (plan.activation_offload == plan::ActivationOffload::residual) add("residual on the host");
  return text;
}

std::string title_text(const std::string& title, const report::Screen& screen) {
  std::string text;
  for (const std::string& line : report::wrapped_lines(title, screen.columns)) {
    text += report::painted(line, report::Ink::strong, screen) + "\n";
  }
  return text;
}

}  // namespace fourhold::api
