#include "fourhold/api/help.h"

#include <algorithm>

#include <fmt/format.h>

#include "fourhold/api/run_text.h"
#include "fourhold/report/table.h"
#include "fourhold/report/text.h"

namespace fourhold::api {
namespace {

constexpr int kFlagColumns = 24;

std::string flag_text(const OptionInfo& option) {
  std::string text = option.flag;
  if (!option.alias.empty()) text = option.alias + ", " + text;
  if (!option.value.empty()) text += " " + option.value;
  return text;
}

// The help beside the flag, or below it where the flag is long.
std::string option_text(const OptionInfo& option, const report::Screen& screen) {
  const std::string flag = "  " + flag_text(option);
  const std::string indent(kFlagColumns + 2, ' ');
  const bool beside = report::columns_of(flag) <= kFlagColumns;
  const std::string before = beside ? report::padded_right(flag, kFlagColumns + 2) : indent;
  return (beside ? "" : flag + "\n") + report::wrapped(option.help, screen.columns, before);
}

}  // namespace

std::string_view heading(OptionGroup group) {
  switch (group) {
    case OptionGroup::operand:
      return "Operands";
    case OptionGroup::question:
      return "Question";
    case OptionGroup::run:
      return "Run and time";
    case OptionGroup::device:
      return "Device";
    case OptionGroup::plan:
      return "Plan";
    case OptionGroup::output:
      break;
  }
  return "Output";
}

std::string usage_text(const Verb& verb) {
  const std::size_t passed_on = std::min(verb.operands.size(), verb.operands.find(" [--"));
  std::string text = fmt::format("fourhold {}", verb.name);
  if (!verb.operands.empty()) text += fmt::format(" {}", verb.operands.substr(0, passed_on));
  return text + " [options]" + std::string(verb.operands.substr(passed_on));
}

std::string overview_text(const report::Screen& screen) {
  std::string text = report::wrapped(
      "fourhold says, to the byte and the second, what a transformer training run needs before it "
      "runs: what it holds in memory, whether that fits, how long it takes, what to change if it "
      "does not fit, and which split over many devices is the fastest that does.",
      screen.columns);
  text +=
      "\n  fourhold fit llama-3.1-8b --device rtx-4090 --batch 1 --seq 4096\n"
      "  fourhold plan llama-3.1-8b --device h100 --count 8 --tokens 1e12 -o plan.json\n\n";
  report::Table table({{""}, {""}, {"", report::Align::left, report::WhenTight::wrap}});
  for (const Verb& verb : verbs()) {
    table.add({std::string(verb.name), std::string(verb.operands), std::string(verb.summary)});
  }
  text += title_text("Commands", screen) + table.text(screen, 2);
  text += "\n";
  text += report::wrapped(
      "`fourhold COMMAND --help` lists its options. MODEL is a built-in name, a published "
      "config.json, a folder holding one, or safetensors weights. Exit codes: 0 yes, 1 the answer "
      "is no, 2 bad input, 3 a fault of ours.",
      screen.columns);
  return text;
}

std::string help_text(const Verb& verb, const report::Screen& screen) {
  std::string text = title_text(usage_text(verb), screen);
  text += "\n" + report::wrapped(verb.description, screen.columns);
  text += "\n" + title_text(verb.examples.size() == 1 ? "Example" : "Examples", screen);
  for (const Example& example : verb.examples) {
    text += report::wrapped(fmt::format("fourhold {}", example.command), screen.columns, "  ");
    text += report::wrapped(example.says, screen.columns, "      ");
  }
  std::vector<OptionInfo> options = verb.options();
  for (OptionInfo& common : common_options()) options.push_back(std::move(common));
  std::string operands;
  for (const OptionInfo& option : options) {
    if (option.group != OptionGroup::operand) continue;
    OptionInfo shown = option;
    shown.value.clear();
    operands += option_text(shown, screen);
  }
  if (!operands.empty()) text += "\n" + title_text("Operands", screen) + operands;
  for (const OptionGroup group : kListedGroups) {
    std::string listed;
    for (const OptionInfo& option : options) {
      if (option.group == group) listed += option_text(option, screen);
    }
    if (listed.empty()) continue;
    text += "\n" + title_text(std::string(heading(group)), screen) + listed;
  }
  return text;
}

}  // namespace fourhold::api
