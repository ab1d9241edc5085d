#include "fourhold/confidence/own_runs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/base/quantity.h"

namespace fourhold::confidence {
namespace {

constexpr std::string_view kOwnRunsSchema = "fourhold.calibration/1";
constexpr NumberRange kRatios{kLeastRatio, kMostRatio};

void check_ratio(std::string_view what, std::optional<double> ratio, const std::string& where) {
  if (!ratio || (*ratio >= kLeastRatio && *ratio <= kMostRatio)) return;
  throw Error(where,
              fmt::format("{} is {:.3g} times what is predicted: this is not the run that was "
                          "measured",
                          what, *ratio),
              fmt::format("give the plan, the profile and the device of the run, and its figure "
                          "per device and per optimizer step; {:g} to {:g} times is taken",
                          kLeastRatio, kMostRatio));
}

bool is_same_plan(const OwnRun& a, const OwnRun& b) {
  return a.profile == b.profile && a.device == b.device && a.model == b.model && a.plan == b.plan;
}

// Sums logarithms until the mean is asked for.
class GeometricMean {
 public:
  void add(std::optional<double> ratio) {
    if (!ratio) return;
    sum_ += std::log(*ratio);
    ++count_;
  }
  [[nodiscard]] Correction correction() const {
    if (count_ == 0) return {};
    return {.factor = std::exp(sum_ / static_cast<double>(count_)), .runs = count_};
  }

 private:
  double sum_ = 0;
  std::int64_t count_ = 0;
};

OwnRun run_of(const json::Value& value, const std::string& path) {
  FieldReader reader(value, path);
  OwnRun run;
  run.profile = reader.required_string("profile");
  run.device = reader.required_string("device");
  run.model = reader.required_string("model");
  run.plan = reader.required_string("plan");
  run.memory_ratio = reader.number("memory_ratio", kRatios);
  run.step_ratio = reader.number("step_ratio", kRatios);
  reader.refuse_unread();
  if (!run.memory_ratio && !run.step_ratio) {
    throw Error(path, "has neither memory_ratio nor step_ratio", "a run measured one of them");
  }
  return run;
}

}  // namespace

void OwnRuns::add(OwnRun run, const std::string& where) {
  check_ratio("memory", run.memory_ratio, where);
  check_ratio("step", run.step_ratio, where);
  const bool is_known = std::any_of(runs_.begin(), runs_.end(), [&run](const OwnRun& known) {
    return is_same_plan(known, run) && known.memory_ratio == run.memory_ratio &&
           known.step_ratio == run.step_ratio;
  });
  if (!is_known) runs_.push_back(std::move(run));
}

void OwnRuns::put(OwnRun run, const std::string& where) {
  std::erase_if(runs_, [&run](const OwnRun& known) { return is_same_plan(known, run); });
  add(std::move(run), where);
}

Corrections OwnRuns::corrections(std::string_view profile, std::string_view device) const {
  GeometricMean memory;
  GeometricMean step;
  for (const OwnRun& run : runs_) {
    if (run.profile != profile || run.device != device) continue;
    memory.add(run.memory_ratio);
    step.add(run.step_ratio);
  }
  return {.memory = memory.correction(), .step = step.correction()};
}

Corrections OwnRuns::corrections_of(const OwnPlan& plan) const {
  GeometricMean memory;
  GeometricMean step;
  for (const OwnRun& run : runs_) {
    if (run.profile != plan.profile || run.device != plan.device || run.model != plan.model ||
        run.plan != plan.plan) {
      continue;
    }
    memory.add(run.memory_ratio);
    step.add(run.step_ratio);
  }
  Corrections corrections = this->corrections(plan.profile, plan.device);
  if (memory.correction().runs > 0) corrections.memory = memory.correction();
  if (step.correction().runs > 0) corrections.step = step.correction();
  return corrections;
}

std::string to_string(const Corrections& corrections) {
  std::string text;
  const auto add = [&text](std::string_view name, const Correction& one) {
    if (one.runs == 0) return;
    text += fmt::format("{}{} x{:.3f} ({})", text.empty() ? "" : ", ", name, one.factor,
                        counted(one.runs, "run"));
  };
  add("memory", corrections.memory);
  add("step", corrections.step);
  return text;
}

OwnRuns parse_own_runs(std::string_view text, const std::string& where) {
  try {
    const json::Value document = json::parse(text, "");
    FieldReader reader(document, "");
    const std::string schema = reader.required_string("schema");
    if (schema != kOwnRunsSchema) {
      throw Error("schema", fmt::format("'{:.60}' is no file of own runs", schema),
                  fmt::format("it must be '{}'", kOwnRunsSchema));
    }
    OwnRuns runs;
    if (const json::Array* array = reader.array("runs")) {
      for (std::size_t i = 0; i < array->size(); ++i) {
        const std::string path = fmt::format("runs[{}]", i);
        runs.add(run_of((*array)[i], path), path);
      }
    }
    reader.refuse_unread();
    return runs;
  } catch (const Error& fault) {
    throw fault.inside(where);
  }
}

json::Value to_json(const OwnRuns& runs) {
  json::Array array;
  for (const OwnRun& run : runs.runs()) {
    json::Object one{
        {"profile", run.profile}, {"device", run.device}, {"model", run.model}, {"plan", run.plan}};
    if (run.memory_ratio) one.emplace_back("memory_ratio", *run.memory_ratio);
    if (run.step_ratio) one.emplace_back("step_ratio", *run.step_ratio);
    array.emplace_back(std::move(one));
  }
  return json::Object{{"schema", kOwnRunsSchema}, {"runs", std::move(array)}};
}

}  // namespace fourhold::confidence
