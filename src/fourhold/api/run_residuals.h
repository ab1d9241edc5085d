// What measured runs say of the predictions for one profile and device.
#pragma once

#include <optional>
#include <string_view>

#include "fourhold/confidence/residual_table.h"
#include "fourhold/hardware/device.h"
#include "fourhold/plan/profile.h"

namespace fourhold::api {

struct RunResiduals {
  bool exact_bytes = false;  // the run reserves what is predicted
  std::optional<confidence::Basis> memory;
  std::optional<confidence::Basis> step;
};

// Nothing for a profile whose arena is placed ahead of the run: its bytes are what the run
// reserves, and published runs of other programs say nothing of its time.
[[nodiscard]] RunResiduals residuals_of(const plan::Profile& profile,
                                        std::string_view device_generation);

// The share of the device that must stay free for a run to fit with that probability: what is
// predicted is then at most usable / (the ratio that `confidence` of the runs stay within). 0 where
// runs take less than is predicted, and where bytes are exact: nothing above the device is
// proposed.
[[nodiscard]] double headroom_for(const RunResiduals& residuals, double confidence);

}  // namespace fourhold::api
