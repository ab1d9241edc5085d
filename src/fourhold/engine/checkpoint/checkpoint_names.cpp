#include "fourhold/engine/checkpoint/checkpoint_names.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <system_error>

#include <fmt/format.h>

namespace fourhold::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStep = "step-";
constexpr std::string_view kPartial = ".partial";

}  // namespace

std::string step_name(std::int64_t step) { return fmt::format("{}{:08}", kStep, step); }

std::optional<std::int64_t> step_of(std::string_view name) {
  if (!name.starts_with(kStep)) return std::nullopt;
  const std::string_view digits = name.substr(kStep.size());
  std::int64_t step = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, fault] = std::from_chars(digits.data(), end, step);
  // Only what step_name writes: one name per step.
  if (fault != std::errc() || stop != end || step < 0 || step_name(step) != name) {
    return std::nullopt;
  }
  return step;
}

std::string partial_name(std::int64_t step) {
  return fmt::format(".{}{}", step_name(step), kPartial);
}

bool is_partial_name(std::string_view name) {
  return name.starts_with(fmt::format(".{}", kStep)) && name.ends_with(kPartial);
}

std::vector<std::int64_t> steps_in(const std::string& folder) {
  std::vector<std::int64_t> steps;
  std::error_code fault;
  for (fs::directory_iterator at(folder, fault); !fault && at != fs::directory_iterator();
       at.increment(fault)) {
    if (const auto step = step_of(at->path().filename().string())) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end(), std::greater<>());
  return steps;
}

}  // namespace fourhold::engine
