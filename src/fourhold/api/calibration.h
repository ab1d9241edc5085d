// Corrections by the user's own runs: what `predict --observed` learns and later calls read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/api/plan_choice.h"
#include "fourhold/api/run.h"
#include "fourhold/confidence/own_runs.h"
#include "fourhold/plan/plan.h"

namespace fourhold::api {

// Where own runs are kept if no option says otherwise: fourhold/calibration.json in
// $XDG_CONFIG_HOME, or in .config of $HOME; "" where neither is set.
[[nodiscard]] std::string default_calibration_path();

// The file that a request reads and writes, "" for none.
[[nodiscard]] std::string calibration_path(const RunRequest& request);

// "kept in FILE", and that its folder is made for it, where it is not there yet.
[[nodiscard]] std::string kept_note(const std::string& path);

// What stands there. A file that --calibration names must be there unless it `may_be_missing`; the
// default one may always be missing. Throws Error for one that is damaged.
enum class Missing : std::uint8_t { is_a_fault, is_no_runs };
[[nodiscard]] confidence::OwnRuns read_calibration(const RunRequest& request, Missing missing);

// Corrects the run's profile by its own runs on its device, and takes the median of published
// residuals to what they say, the spread staying as it is; a note says so. Memory is corrected as a
// whole: what the allocator holds and the runtime's own. Nothing without runs.
void apply_corrections(const confidence::OwnRuns& own, LoadedRun& run);

// Where runs of this very plan are among them, they say more of it than the mean of all: the plan
// predicted by them, and a note. Else what was given.
[[nodiscard]] PlannedRun correct_by_plan(PlannedRun planned, LoadedRun& run);

// `run` as its request says, but for corrections, and the observation that was made of it:
// "memory=71.3GiB step=2.41s" or a file of measured rows. Adds to what is kept; notes say what.
// Gives the plan that the run is taken to have been, nothing for a file. Throws Error where nothing
// can be learned: without a device by name, of bytes that are exact, of more than the device has.
std::optional<plan::Plan> observe(const RunRequest& request, const std::string& observed,
                                  confidence::OwnRuns& own, std::vector<std::string>& notes);

}  // namespace fourhold::api
