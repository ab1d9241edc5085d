// How fast a run should be, from what its machine was measured to do.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "fourhold/engine/train/train_run.h"
#include "fourhold/predict/scaling.h"

namespace fourhold::engine_app {

struct ExpectedSpeed {
  std::string device;  // whose rates these are; "" for this machine, just measured
  double step_seconds = 0;
  double model_flops = 0;                   // of one step (predict/model_flops.h)
  double peak_flops_per_second = 0;         // of all ranks, for the plan's products
  std::optional<predict::Speedup> speedup;  // of the ranks over one; none on one rank

  // Model FLOPs utilisation of a step that took so long.
  [[nodiscard]] double mfu(double seconds) const {
    return seconds > 0 ? model_flops / seconds / peak_flops_per_second : 0;
  }
};

// Says what must be known of a named device.
using Note = std::function<void(const std::string& text)>;

// For who starts the ranks: throws Error where a device that is named cannot be read or has no rate
// for the plan's products.
void require_speed_device(const std::string& device, const engine::TrainSetup& setup);

// `device` is "measure" (this machine, now, with the plan's threads and instructions), a device
// file or name, or "none". Throws Error where the device cannot be read or has no rate for the
// plan's products. All ranks call it; those but the first get nothing.
[[nodiscard]] std::optional<ExpectedSpeed> expected_speed(const std::string& device,
                                                          const engine::TrainSetup& setup,
                                                          const Note& note);

}  // namespace fourhold::engine_app
