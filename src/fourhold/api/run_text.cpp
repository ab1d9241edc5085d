#include "fourhold/api/run_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "fourhold/api/option.h"
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

const predict::Answer* best_answer(const predict::Verdict& verdict) {
  const predict::Answer* best = nullptr;
  for (const predict::Answer& answer : verdict.answers) {
    if (answer.then_class == VerdictClass::fits) return &answer;
    if (best == nullptr || answer.saves_bytes > best->saves_bytes) best = &answer;
  }
  return best;
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

std::string subject_text(const std::string& name, const std::string& device, std::int64_t devices,
                         const report::Screen& screen, int rest) {
  const std::string clean = report::printable(name);
  const std::string where =
      report::printable(devices > 1 ? fmt::format("{} x {}", devices, device) : device);
  constexpr int kOn = 4;
  const int room = screen.columns - rest - kOn;
  const int names = report::columns_of(clean) + report::columns_of(where);
  if (names <= room) return clean + " on " + where;
  const int for_where = std::min(report::columns_of(where), std::max(8, room / 2));
  return report::shortened(clean, std::max(8, room - for_where)) + " on " +
         report::shortened(where, for_where);
}

std::string verdict_text(const predict::Verdict& verdict, const Sizes& sizes) {
  const std::string usable = format_bytes(sizes.usable);
  const std::string needed = format_bytes(sizes.needed);
  if (verdict.reason == "host_memory") {
    return fmt::format("does not fit: host memory lacks {}", format_bytes(verdict.missing_bytes));
  }
  switch (verdict.verdict) {
    case VerdictClass::fits:
      return fmt::format("fits: {} of {}", needed, usable);
    case VerdictClass::fits_but_takes_too_long:
      return fmt::format("fits, but takes too long: {} of {}", needed, usable);
    case VerdictClass::state_does_not_fit:
    case VerdictClass::activations_do_not_fit:
      break;
  }
  if (verdict.reason == "headroom") {
    return fmt::format("leaves too little free: {} of {}", needed, usable);
  }
  if (verdict.verdict == VerdictClass::state_does_not_fit) {
    // Buffers beside the state may be what tips the scale.
    const bool alone = sizes.state > sizes.usable;
    return fmt::format("does not fit: {} {}, usable {}", alone ? "state" : "state and buffers",
                       format_bytes(alone ? sizes.state : sizes.needed), usable);
  }
  return fmt::format("does not fit: needs {}, usable {}", needed, usable);
}

report::Ink verdict_ink(const predict::Verdict& verdict) {
  const bool yes = verdict.verdict == VerdictClass::fits ||
                   verdict.verdict == VerdictClass::fits_but_takes_too_long;
  return yes ? report::Ink::good : report::Ink::bad;
}

std::string first_answer_text(const predict::Verdict& verdict, const report::Screen& screen) {
  const predict::Answer* answer = best_answer(verdict);
  if (answer == nullptr) {
    return "No single change helps: combine a larger split with recomputation.\n";
  }
  const std::string saves = format_bytes(answer->saves_bytes);
  const std::string then(class_text(answer->then_class));
  const std::string start = "Change first: " + answer->change;
  return report::first_that_fits({fmt::format("{}; saves {}, then {}.", start, saves, then),
                                  fmt::format("{}: then {}.", start, then), start + "."},
                                 screen.columns) +
         "\n";
}

std::string answers_text(const predict::Verdict& verdict, const report::Screen& screen) {
  if (verdict.answers.empty()) return {};
  report::Table table({{"change", report::Align::left, report::WhenTight::wrap},
                       {"saves", report::Align::right},
                       {"then"}});
  for (const predict::Answer& answer : verdict.answers) {
    table.add({answer.change, format_bytes(answer.saves_bytes),
               std::string(class_text(answer.then_class))});
  }
  return title_text("What to change, cheapest first (one change at a time)", screen) +
         table.text(screen, 2);
}

std::string plan_text(const plan::Plan& plan, const std::vector<std::string>& chosen,
                      const report::Screen& screen) {
  std::string text = report::wrapped(plan::to_string(plan), screen.columns, "Plan    ");
  if (chosen.empty()) return text;
  std::string list;
  for (const std::string& name : chosen) {
    const std::string value = field_text(plan, name);
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", flag_of(name), value);
  }
  return text + report::wrapped(list + " (not given, so chosen here)", screen.columns, "Chosen  ");
}

std::string title_text(const std::string& title, const report::Screen& screen) {
  return report::painted(report::shortened(title, screen.columns), report::Ink::strong, screen) +
         "\n";
}

}  // namespace fourhold::api
