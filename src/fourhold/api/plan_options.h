// The fields of a plan as options: the plan's own list, with what a command line adds.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "fourhold/api/option.h"
#include "fourhold/plan/plan_fields.h"
#include "fourhold/plan/plan_request.h"

namespace fourhold::api {

template <class Value>
[[nodiscard]] constexpr ValueKind kind_of(const std::optional<Value>& /*type*/) {
  if constexpr (std::is_enum_v<Value> || std::is_same_v<Value, bool>) return ValueKind::choice;
  if constexpr (std::is_integral_v<Value>) return ValueKind::number;
  return ValueKind::text;
}

template <class Visitor>
void visit_plan_options(Visitor&& visit, plan::PlanRequest& request) {
  visit(Option{plan::kCountField, OptionGroup::plan, ValueKind::number}, request.count);
  plan::visit_fields(
      [&visit](const plan::FieldInfo& info, auto& field) {
        if (info.name == "threads" || info.name == "isa") return;  // of an engine that runs plans
        Option option{info, OptionGroup::plan, kind_of(field)};
        if (info.name == "micro_batch") option.alias = "batch";
        if (info.name == "profile") option.kind = ValueKind::profile;
        visit(option, field);
      },
      request);
}

}  // namespace fourhold::api
