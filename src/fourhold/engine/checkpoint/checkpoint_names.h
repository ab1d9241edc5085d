// How a folder of checkpoints is laid out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fourhold::engine {

// "step-00000100".
[[nodiscard]] std::string step_name(std::int64_t step);
// The step of such a name; no value for other names.
[[nodiscard]] std::optional<std::int64_t> step_of(std::string_view name);
// ".step-00000100.partial": being written, or being deleted.
[[nodiscard]] std::string partial_name(std::int64_t step);
[[nodiscard]] bool is_partial_name(std::string_view name);

// Steps that have a folder, complete or not, newest first. Empty when `folder` does not exist.
[[nodiscard]] std::vector<std::int64_t> steps_in(const std::string& folder);

}  // namespace fourhold::engine
