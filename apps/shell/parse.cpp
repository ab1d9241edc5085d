#include "apps/shell/parse.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "fourhold/api/request.h"
#include "fourhold/base/error.h"
#include "fourhold/base/near_match.h"

namespace fourhold::shell {
namespace {

using api::OptionGroup;
using api::OptionInfo;

[[noreturn]] void unknown_flag(const api::Verb& verb, const std::string& word,
                               const std::vector<OptionInfo>& options) {
  const std::string flag = word.substr(0, word.find('='));
  std::vector<std::string_view> flags;
  for (const OptionInfo& option : options) {
    if (option.group == OptionGroup::operand) continue;
    flags.push_back(option.flag);
    if (!option.alias.empty()) flags.push_back(option.alias);
  }
  const std::string near = did_you_mean(flag, flags);
  if (near.empty() && verb.operands.find("--") != std::string_view::npos) {
    throw Error(fmt::format("{:.60}", flag), fmt::format("is no option of {}", verb.name),
                fmt::format("options of the command that it starts stand behind --: `fourhold {} "
                            "{}`",
                            verb.name, verb.operands));
  }
  throw Error(
      fmt::format("{:.60}", flag), fmt::format("is no option of {}", verb.name),
      fmt::format("{}{}`fourhold {} --help` lists them", near, near.empty() ? "" : " ", verb.name));
}

ColorWhen color_of(const std::string& text) {
  if (text == "auto") return ColorWhen::automatic;
  if (text == "always") return ColorWhen::always;
  if (text == "never") return ColorWhen::never;
  throw Error("--color", fmt::format("'{:.40}' is not one of its values", text),
              "it may be auto, always or never");
}

// What the library collects for one flag, in its words.
struct Collected {
  std::vector<std::string> values;
  CLI::Option* option = nullptr;
};

}  // namespace

ParsedVerb parse_verb(const api::Verb& verb, const std::vector<std::string>& words) {
  std::vector<OptionInfo> options = verb.options();
  for (OptionInfo& option : api::common_options()) options.push_back(std::move(option));

  CLI::App app;
  app.set_help_flag();  // help is ours
  app.allow_extras();   // judged below, with near matches
  std::map<std::string, Collected> collected;
  for (const OptionInfo& option : options) {
    if (option.group == OptionGroup::operand) continue;
    Collected& slot = collected[option.flag];
    std::string names = option.flag;
    if (option.flag == "--help") names += ",-h";
    if (!option.alias.empty()) names += "," + option.alias;
    if (option.value.empty()) {
      slot.option = app.add_flag(names);
    } else {
      slot.option = app.add_option(names, slot.values);
      slot.option->type_size(1)->expected(1)->allow_extra_args(false);
      slot.option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);  // judged by our own rule
    }
  }
  ParsedVerb parsed;
  std::vector<std::string> operands;
  app.add_option("operands", operands);

  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ArgumentMismatch& fault) {
    const std::string text = fault.what();  // "--seq: 1 required TEXT missing"
    throw Error(text.substr(0, text.find(':')), "needs a value behind it",
                fmt::format("`fourhold {} --help` shows its options", verb.name));
  } catch (const CLI::ParseError& fault) {
    throw Error("command line", fault.what(),
                fmt::format("`fourhold {} --help` shows its options", verb.name));
  }
  for (const std::string& word : app.remaining()) {
    if (word == "--") continue;  // only tells that operands follow
    if (word.size() > 1 && word.front() == '-') unknown_flag(verb, word, options);
    operands.push_back(word);
  }

  parsed.arguments.operands = std::move(operands);
  for (const OptionInfo& option : options) {
    if (option.group == OptionGroup::operand) continue;
    const Collected& slot = collected[option.flag];
    const std::vector<std::string> texts =
        option.value.empty() ? slot.option->results() : slot.values;
    if (option.value.empty() && !texts.empty() && texts.front() != "true") {
      throw Error(option.flag, "is a switch: it takes no value", "write it alone");
    }
    for (const std::string& text : texts) parsed.arguments.options.push_back({option.flag, text});
  }
  api::refuse_repetition(parsed.arguments, api::repeating(options));
  // The common ones are answered here.
  auto& given = parsed.arguments.options;
  const auto take = [&given](std::string_view flag) -> std::optional<std::string> {
    const auto found = std::find_if(given.begin(), given.end(),
                                    [flag](const auto& one) { return one.flag == flag; });
    if (found == given.end()) return std::nullopt;
    std::string text = std::move(found->text);
    given.erase(found);
    return text;
  };
  if (take("--json")) parsed.form = api::Form::json;
  if (const auto when = take("--color")) parsed.color = color_of(*when);
  parsed.help = take("--help").has_value();
  return parsed;
}

}  // namespace fourhold::shell
