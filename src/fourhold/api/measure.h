// `fourhold measure`: this machine as a device file. The engine's program answers.
#pragma once

#include <string>

#include "fourhold/api/engine_options.h"
#include "fourhold/api/option.h"
#include "fourhold/plan/plan_request.h"

namespace fourhold::api {

struct MeasureRequest {
  std::string output;  // the device file
  bool quick = false;
  plan::PlanRequest plan;  // threads and isa
};

template <class Visitor>
void visit_options(Visitor&& visit, MeasureRequest& request) {
  visit(Option{{"quick", "two seconds instead of half a minute, and less sure"},
               OptionGroup::question,
               ValueKind::flag},
        request.quick);
  visit_execution(visit, request.plan);
  visit(Option{{"output", "where to write the device file, such as machine.json"},
               OptionGroup::output,
               ValueKind::file,
               "o"},
        request.output);
}

}  // namespace fourhold::api
