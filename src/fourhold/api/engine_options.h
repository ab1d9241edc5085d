// Options that several verbs of the engine share: what a process may hold, say and run on.
#pragma once

#include <optional>

#include "fourhold/api/option.h"
#include "fourhold/api/plan_options.h"
#include "fourhold/base/units.h"
#include "fourhold/plan/plan_fields.h"
#include "fourhold/plan/plan_request.h"

namespace fourhold::api {

template <class Visitor>
void visit_process_memory(Visitor&& visit, std::optional<Bytes>& memory) {
  visit(Option{{"memory",
                "most memory of the process: the arena and the allowance beside it, such as 4GiB"},
               OptionGroup::device,
               ValueKind::size},
        memory);
}

template <class Visitor>
void visit_verbose(Visitor&& visit, bool& verbose) {
  visit(Option{{"verbose", "says which kernels were chosen, and why others were not"},
               OptionGroup::output,
               ValueKind::flag},
        verbose);
}

// Threads and instruction set: the plan's fields of these names.
template <class Visitor>
void visit_execution(Visitor&& visit, plan::PlanRequest& plan) {
  plan::visit_fields(
      [&visit](const plan::FieldInfo& info, auto& field) {
        if (info.name != "threads" && info.name != "isa") return;
        visit(Option{info, OptionGroup::plan, kind_of(field)}, field);
      },
      plan);
}

}  // namespace fourhold::api
