// `fourhold measure`: this machine as a device file. The engine's program answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fourhold/api/option.h"

namespace fourhold::api {

struct MeasureRequest {
  std::string output;  // the device file
  bool quick = false;
  std::optional<std::int64_t> threads;
  std::optional<std::string> isa;
};

template <class Visitor>
void visit_options(Visitor&& visit, MeasureRequest& request) {
  visit(Option{{"quick", "two seconds instead of half a minute, and less sure"},
               OptionGroup::question,
               ValueKind::flag},
        request.quick);
  visit(Option{{"threads", "threads to measure with; all usable cores if not given", {0, 4096}},
               OptionGroup::plan,
               ValueKind::number},
        request.threads);
  visit(Option{{"isa", "instruction set to measure; the best of the machine if not given"},
               OptionGroup::plan,
               ValueKind::text},
        request.isa);
  visit(Option{{"output", "where to write the device file, such as machine.json"},
               OptionGroup::output,
               ValueKind::file,
               "o"},
        request.output);
}

}  // namespace fourhold::api
