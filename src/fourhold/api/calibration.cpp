#include "fourhold/api/calibration.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/text_file.h"

namespace fourhold::api {
namespace {

constexpr std::string_view kNone = "none";
constexpr std::int64_t kMostCalibrationBytes = 16 << 20;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// The published runs, moved so that their median is what the user's own runs were.
void centre(std::optional<confidence::Basis>& basis) {
  if (!basis) return;
  constexpr double kMedian = 0.5;
  basis->residuals = basis->residuals.shifted(-basis->residuals.quantile(kMedian));
}

// Own runs say what is reserved, whichever memory the published ones did.
void centre_memory(std::optional<confidence::Basis>& basis) {
  centre(basis);
  if (basis) basis->metric = confidence::Metric::memory_reserved;
}

void correct(const confidence::Corrections& corrections, LoadedRun& run) {
  plan::Profile& profile = run.profile;
  // What was observed is all that the device held: the runtime's own is part of it.
  profile.runtime_bytes = std::llround(static_cast<double>(profile.runtime_bytes) *
                                       corrections.memory.factor / profile.memory_correction);
  profile.memory_correction = corrections.memory.factor;
  profile.time.step_correction = corrections.step.factor;
  if (corrections.memory.runs > 0) centre_memory(run.residuals.memory);
  if (corrections.step.runs > 0) centre(run.residuals.step);
}

}  // namespace

std::string default_calibration_path() {
  std::string folder = variable("XDG_CONFIG_HOME");
  if (folder.empty()) {
    folder = variable("HOME");
    if (folder.empty()) return {};
    folder += "/.config";
  }
  return folder + "/fourhold/calibration.json";
}

std::string calibration_path(const RunRequest& request) {
  if (request.calibration == kNone) return {};
  return request.calibration.empty() ? request.default_calibration : request.calibration;
}

std::string kept_note(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code fault;
  if (folder.empty() || std::filesystem::is_directory(folder, fault)) return "kept in " + path;
  return fmt::format("kept in {}; its folder {} was not there and is made", path, folder.string());
}

confidence::OwnRuns read_calibration(const RunRequest& request, Missing missing) {
  const std::string path = calibration_path(request);
  if (path.empty()) return {};
  if (path.back() == '/') {
    throw Error("--calibration", path + " is a folder", "name a file in it: " + path + "own.json");
  }
  const bool may_be_missing = request.calibration.empty() || missing == Missing::is_no_runs;
  std::error_code fault;
  if (may_be_missing && !std::filesystem::exists(path, fault)) return {};
  if (!std::filesystem::exists(path, fault)) {
    throw Error("--calibration", path + " does not exist",
                "name the file that `fourhold predict --observed` wrote, or none");
  }
  const std::string text = read_text_file(path, kMostCalibrationBytes);
  try {
    return confidence::parse_own_runs(text, path);
  } catch (const Error& damaged) {
    throw Error(damaged.where(), damaged.what(),
                "repair the file, take it away, or leave it out with --calibration none");
  }
}

void apply_corrections(const confidence::OwnRuns& own, LoadedRun& run) {
  if (!run.target) return;
  const std::string& device = run.target->cluster.device.name;
  const confidence::Corrections corrections = own.corrections(run.profile.name, device);
  if (!corrections.any()) return;
  run.own_runs = own;
  correct(corrections, run);
  run.notes.push_back(fmt::format(
      "your own runs of {} on {} correct this: {}; the spread is that of published runs; "
      "--calibration none leaves them out",
      run.profile.name, device, confidence::to_string(corrections)));
}

PlannedRun correct_by_plan(PlannedRun planned, LoadedRun& run) {
  if (!run.target || run.own_runs.runs().empty()) return planned;
  const std::string& device = run.target->cluster.device.name;
  const std::string plan = plan::to_string(planned.plan);
  const confidence::Corrections all = run.own_runs.corrections(run.profile.name, device);
  const confidence::Corrections own =
      run.own_runs.corrections_of({run.profile.name, device, run.model.name, plan});
  if (own == all) return planned;
  correct(own, run);
  run.notes.push_back(
      fmt::format("runs of this very plan say {}, which counts here", confidence::to_string(own)));
  run.request = plan::whole_request(planned.plan);
  return complete_plan(run);
}

}  // namespace fourhold::api
