// The picture of a plan: how its speed grows with devices, and on what its step is spent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fourhold/predict/part_seconds.h"

namespace fourhold::report {

struct ScalingMark {
  std::int64_t devices = 1;
  double speedup = 0;
  double speedup_kept = 0;
};

// Marks are those device counts where the split fits. The straight line is N times one device.
[[nodiscard]] std::string draw_scaling_svg(const std::vector<ScalingMark>& marks,
                                           const predict::PartSeconds& parts,
                                           const std::string& title);

}  // namespace fourhold::report
