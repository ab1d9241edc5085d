// What `predict --observed` learns from one run, or from a file of them.
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "fourhold/api/calibration.h"
#include "fourhold/api/plan_choice.h"
#include "fourhold/api/run_time.h"
#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/confidence/observation.h"
#include "fourhold/measured/comparison.h"
#include "fourhold/measured/exclusions.h"
#include "fourhold/measured/row_files.h"
#include "fourhold/predict/memory.h"

namespace fourhold::api {
namespace {

using confidence::OwnRun;
using confidence::OwnRuns;

constexpr const char* kObserved = "--observed";

bool is_row_file(std::string_view observed) {
  constexpr std::string_view kEnd = ".csv";
  return observed.size() > kEnd.size() && observed.ends_with(kEnd);
}

// Each row under the profile of its own framework, against its own device.
void observe_rows(const std::string& file, OwnRuns& own, std::vector<std::string>& notes) {
  const measured::Exclusions exclusions(measured::excluded_text(), "excluded.csv");
  measured::Catalogue catalogue;
  std::int64_t taken = 0;
  std::int64_t left = 0;
  for (const measured::MeasuredRow& row : measured::read_row_file(file)) {
    const measured::RowResult result = measured::compare_row(row, exclusions, catalogue, 0);
    OwnRun run{.profile = result.profile,
               .device = result.device,
               .model = row.model.empty() ? std::string("unnamed") : row.model,
               .plan = row.id,
               .memory_ratio = {},
               .step_ratio = {}};
    const std::string where = fmt::format("{}: row {}", file, row.id);
    for (const measured::Comparison& one : result.comparisons) {
      if (one.metric != measured::Metric::step_time && one.measured > result.usable_gib) {
        throw Error(where,
                    fmt::format("{:.2f} GiB are more than the {:.2f} GiB of {}", one.measured,
                                result.usable_gib, result.device),
                    "give what one device held, and name its kind in gpu");
      }
      const double ratio = one.measured / one.predicted;
      switch (one.metric) {
        case measured::Metric::memory_allocated:
          if (!run.memory_ratio) run.memory_ratio = ratio;
          break;
        case measured::Metric::memory_reserved:
          run.memory_ratio = ratio;
          break;
        case measured::Metric::step_time:
          run.step_ratio = ratio;
          break;
      }
    }
    if (!run.memory_ratio && !run.step_ratio) {
      ++left;
      continue;
    }
    own.put(std::move(run), where);
    ++taken;
  }
  if (taken == 0) {
    throw Error(kObserved, fmt::format("no row of {} has a memory or a time to learn from", file),
                "`fourhold validate FILE.csv --rows` says why");
  }
  notes.push_back(fmt::format("{} of {} taken from {}{}", format_count(taken),
                              counted(taken + left, "row"), file,
                              left == 0 ? "" : ": the others say too little of their run"));
}

void refuse_more_than_device(Bytes memory, const LoadedRun& run) {
  const hardware::Device& device = run.target->cluster.device;
  if (memory <= device.usable) return;
  throw Error(kObserved,
              fmt::format("memory={} is more than the {} of {}", format_bytes(memory),
                          format_bytes(device.usable), device.name),
              "give what one device held; another device's size goes with --device or --memory");
}

// Of what the run would hold. Where hardly anything stayed free, the allocator may have given back
// what it did not use: then of no more than the device has. The plan ran, so it fits: where
// what it needs would still be beyond the device, it needs no more than was seen.
double memory_ratio(Bytes memory, const LoadedRun& run, const PlannedRun& planned) {
  constexpr double kEndOfDevice = 0.05;  // large blocks that do not fit any more leave such gaps
  const auto seen = static_cast<double>(memory.count());
  const auto usable = static_cast<double>(planned.capacity->usable_bytes.count());
  const auto needed = static_cast<double>(planned.memory.needed_bytes.count());
  auto held = static_cast<double>(
      predict::predict_memory(run.model, planned.plan, run.profile).device_bytes.count());
  if (seen > (1 - kEndOfDevice) * usable) held = std::min(held, usable);
  // A hair less, so that rounding up does not take it beyond the device that held it.
  constexpr double kRounding = 1e-9;
  const double ratio = seen / held;
  return (ratio * needed > usable ? seen / needed : ratio) * (1 - kRounding);
}

plan::Plan observe_run(const RunRequest& request, const std::string& observed, OwnRuns& own,
                       std::vector<std::string>& notes) {
  const confidence::Observation seen = confidence::parse_observation(observed, kObserved);
  const LoadedRun run = load_run(request);
  if (!run.target || request.target.device.empty()) {
    throw Error(kObserved, "is learned of a device by its name", "add --device");
  }
  if (run.residuals.exact_bytes && seen.memory) {
    throw Error(kObserved,
                fmt::format("memory of profile {} is predicted to the byte: nothing is corrected",
                            run.profile.name),
                "leave it out; `fourhold train` states predicted beside measured bytes");
  }
  const PlannedRun planned = choose_plan(run);
  OwnRun learned{.profile = run.profile.name,
                 .device = run.target->cluster.device.name,
                 .model = run.model.name,
                 .plan = plan::to_string(planned.plan),
                 .memory_ratio = {},
                 .step_ratio = {}};
  if (seen.memory) {
    refuse_more_than_device(*seen.memory, run);
    learned.memory_ratio = memory_ratio(*seen.memory, run, planned);
  }
  if (seen.step_seconds) {
    const TimeAnswer time = time_answer(run, {}, planned.plan);
    if (!time.step) {
      throw Error(kObserved, "a step's time is compared with none: " + time.why_not,
                  "leave it out, or name a device whose rates are known");
    }
    learned.step_ratio = *seen.step_seconds / time.step->step_seconds;
  }
  if (!run.chosen.empty()) {
    notes.push_back(fmt::format(
        "the run is taken to be the plan that was predicted before this correction ({}): give what "
        "it had of {}, if that differs",
        learned.plan, fmt::join(run.chosen, ", ")));
  }
  own.add(std::move(learned), kObserved);
  return planned.plan;
}

}  // namespace

std::optional<plan::Plan> observe(const RunRequest& request, const std::string& observed,
                                  OwnRuns& own, std::vector<std::string>& notes) {
  if (is_row_file(observed)) {
    observe_rows(observed, own, notes);
    return std::nullopt;
  }
  RunRequest plain = request;
  plain.calibration = "none";
  return observe_run(plain, observed, own, notes);
}

}  // namespace fourhold::api
