// Plan files: what `plan -o` writes and `predict` reads.
//
//   {"schema": "fourhold.plan-file/1", "model": "llama-3.1-8b", "device": "h100-sxm-80gb",
//    "memory": 68719476736, "tokens": 1000000000000, "count": 64, "plan": {"tp": 8, "zero": 1,
//    ...}}
//
// Beside the plan stands what its answer depends on: model, device, count, and the memory and time
// options (target.h, time_options.h) by their names. All but the plan may be absent. A plan alone,
// without a schema, is read too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fourhold/api/target.h"
#include "fourhold/api/time_options.h"
#include "fourhold/plan/plan_request.h"

namespace fourhold::api {

struct PlanFile {
  std::string model;     // "" where the file names none
  TargetRequest target;  // its device "" likewise
  TimeRequest time;
  plan::PlanRequest plan;
};

enum class PlanFileKind : std::uint8_t {
  any,
  names_its_model,  // Error for a file that does not
};

// The text of a plan file: what is "" or nothing is left out.
[[nodiscard]] std::string plan_file_text(const std::string& model, const TargetRequest& target,
                                         const TimeRequest& time, const plan::Plan& plan);

// Whether `path` is a file that says it is a plan file. Other files are left to their own readers,
// but for the answers this program prints with --json: Error, with how to write a plan file.
[[nodiscard]] bool is_plan_file(const std::string& path);

// Error with the field's path for any fault; an unknown field is a fault.
[[nodiscard]] PlanFile read_plan_file(const std::string& path, PlanFileKind kind);
[[nodiscard]] PlanFile parse_plan_file(std::string_view text, const std::string& where,
                                       PlanFileKind kind);

}  // namespace fourhold::api
