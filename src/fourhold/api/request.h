// Requests from flags and from JSON, by the list of options their struct has.
//
// A request struct has `visit_options(visit, request)`, which calls visit(Option, field) for every
// option, operands first; it is found by argument-dependent lookup.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "fourhold/api/arguments.h"
#include "fourhold/api/option.h"
#include "fourhold/api/option_value.h"
#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/base/json.h"

namespace fourhold::api {

// Throws Error for a flag that stands twice and is not among `repeating`: which of the two was
// meant is not ours to guess.
void refuse_repetition(const Arguments& arguments, const std::vector<std::string>& repeating = {});
// Throws Error for more operands than the verb has.
[[noreturn]] void refuse_operand(const std::string& operand, std::size_t most);

template <class Request>
[[nodiscard]] std::vector<OptionInfo> options_of() {
  std::vector<OptionInfo> list;
  Request request;
  visit_options(
      [&list](const Option& option, auto& field) {
        list.push_back(info_of(option, choices_of(field)));
        list.back().repeats = kRepeats<std::decay_t<decltype(field)>>;
      },
      request);
  return list;
}

// Flags that may stand several times.
[[nodiscard]] std::vector<std::string> repeating(const std::vector<OptionInfo>& options);

template <class Request>
[[nodiscard]] Request request_of(const Arguments& arguments) {
  refuse_repetition(arguments, repeating(options_of<Request>()));
  Request request;
  std::size_t operands = 0;
  visit_options(
      [&](const Option& option, auto& field) {
        if (option.group == OptionGroup::operand) {
          // One that may stand several times takes all that are left.
          constexpr bool kTakesAll = kRepeats<std::decay_t<decltype(field)>>;
          while (operands < arguments.operands.size()) {
            set_from_text(option, arguments.operands[operands++], info_of(option, {}).flag, field);
            if (!kTakesAll) return;
          }
          return;
        }
        const std::string flag = flag_of(option.field.name);
        for (const Arguments::Given& given : arguments.options) {
          if (given.flag == flag) set_from_text(option, given.text, flag, field);
        }
      },
      request);
  if (operands < arguments.operands.size()) {
    refuse_operand(arguments.operands[operands], operands);
  }
  return request;
}

// The members of a JSON object; Error for one that is no option, with the nearest names.
template <class Request>
[[nodiscard]] Request request_of(const json::Value& value) {
  Request request;
  FieldReader reader(value, "");
  static_cast<void>(reader.value("verb"));
  visit_options(
      [&reader](const Option& option, auto& field) {
        if (const json::Value* found = reader.value(option.field.name)) {
          set_from_json(option, *found, reader.path(option.field.name), field);
        }
      },
      request);
  reader.refuse_unread();
  return request;
}

}  // namespace fourhold::api
