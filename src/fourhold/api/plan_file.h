// Plan files: what `plan -o` writes and `predict` reads.
//
//   {"schema": "fourhold.plan-file/1", "model": "llama-3.1-8b", "device": "h100-sxm-80gb",
//    "count": 64, "plan": {"tp": 8, "zero": 1, ...}}
//
// `model`, `device` and `count` may be absent. A plan alone, without a schema, is read too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fourhold/plan/plan_request.h"

namespace fourhold::api {

struct PlanFile {
  std::string model;   // "" where the file names none
  std::string device;  // "" likewise
  plan::PlanRequest plan;
};

enum class PlanFileKind : std::uint8_t {
  any,
  names_its_model,  // Error for a file that does not
};

// The text of a plan file: what is "" or nothing is left out.
[[nodiscard]] std::string plan_file_text(const std::string& model, const std::string& device,
                                         const plan::Plan& plan);

// Whether `path` is a file that says it is a plan file. Other files are left to their own readers.
[[nodiscard]] bool is_plan_file(const std::string& path);

// Error with the field's path for any fault; an unknown field is a fault.
[[nodiscard]] PlanFile read_plan_file(const std::string& path, PlanFileKind kind);
[[nodiscard]] PlanFile parse_plan_file(std::string_view text, const std::string& where,
                                       PlanFileKind kind);

}  // namespace fourhold::api
