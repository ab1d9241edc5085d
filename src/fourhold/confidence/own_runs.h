// What a user's own runs took, over what was predicted of them: the file that corrects later
// predictions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/base/json.h"

namespace fourhold::confidence {

// One run; at least one ratio is there. Ratios are measured over predicted without corrections.
struct OwnRun {
  std::string profile;
  std::string device;  // hardware::Device::name
  std::string model;
  std::string plan;  // in one line, or what else tells runs of the model apart
  std::optional<double> memory_ratio;
  std::optional<double> step_ratio;
};

// What tells runs of one plan from others.
struct OwnPlan {
  std::string_view profile;
  std::string_view device;
  std::string_view model;
  std::string_view plan;
};

// What a prediction is multiplied by: the geometric mean of the runs' ratios, 1 of no runs.
struct Correction {
  double factor = 1;
  std::int64_t runs = 0;
  friend bool operator==(const Correction&, const Correction&) = default;
};
struct Corrections {
  Correction memory;
  Correction step;
  [[nodiscard]] bool any() const { return memory.runs + step.runs > 0; }
  friend bool operator==(const Corrections&, const Corrections&) = default;
};

// Beyond these a run and its prediction are not about the same thing.
inline constexpr double kLeastRatio = 0.2;
inline constexpr double kMostRatio = 5;

class OwnRuns {
 public:
  // Beside the runs there are, also of the same plan; one that repeats another in everything, its
  // ratios too, is the same observation and counts once. Throws Error at `where` for a ratio beyond
  // the bounds above.
  void add(OwnRun run, const std::string& where);

  // In place of the run of the same profile, device, model and plan, if there is one: for runs that
  // have a name of their own in `plan`, as the rows of a file do.
  void put(OwnRun run, const std::string& where);

  [[nodiscard]] Corrections corrections(std::string_view profile, std::string_view device) const;

  // What a plan's own runs say of it, and where it has none of one kind, what all do.
  [[nodiscard]] Corrections corrections_of(const OwnPlan& plan) const;
  [[nodiscard]] const std::vector<OwnRun>& runs() const { return runs_; }

 private:
  std::vector<OwnRun> runs_;
};

// "memory x1.031 (1 run), step x0.940 (2 runs)", of those that are known.
[[nodiscard]] std::string to_string(const Corrections& corrections);

// Schema fourhold.calibration/1. Throws Error for a file that is none, or damaged.
[[nodiscard]] OwnRuns parse_own_runs(std::string_view text, const std::string& where);
[[nodiscard]] json::Value to_json(const OwnRuns& runs);

}  // namespace fourhold::confidence
