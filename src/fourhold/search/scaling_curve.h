// How much of N devices' speed a split keeps, and how many devices a deadline needs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fourhold/search/search.h"

namespace fourhold::search {

// The best plan at one device count with the splits (tp, pp, vpp, cp, ep) of a given plan; zero,
// micro_batch, recompute and offload are chosen anew.
struct ScalingPoint {
  std::int64_t devices = 1;
  std::optional<FoundPlan> plan;  // absent: no plan of that split fits, or none is legal
  double tokens_per_second = 0;
  double speedup = 0;       // over `single_device_seconds`, at the same global batch
  double speedup_kept = 0;  // speedup / devices, never above 1
};

// The point of a plan that was found on `devices` of them.
[[nodiscard]] ScalingPoint scaling_point(const SearchRequest& request, FoundPlan plan,
                                         double single_device_seconds, std::int64_t devices);

// Device counts 1, 2, 4 ... below `most`, and `most` itself.
[[nodiscard]] std::vector<std::int64_t> doubling_counts(std::int64_t most);

// One point per count. `single_device_seconds` is predict::single_device's step.
[[nodiscard]] std::vector<ScalingPoint> scaling_curve(const SearchRequest& request,
                                                      const plan::Plan& split,
                                                      double single_device_seconds,
                                                      const std::vector<std::int64_t>& counts);

// The fewest devices for a split that is given, as a multiple of the split's tp x pp x cp that
// divides the global batch, on which `tokens` take at most `days`; absent where no count up to the
// batch does. A step's time does not fall evenly with devices, so every count is tried from the
// fewest that could do on.
[[nodiscard]] std::optional<ScalingPoint> devices_for_deadline(const SearchRequest& request,
                                                               const plan::Plan& split,
                                                               double single_device_seconds,
                                                               double tokens, double days);

}  // namespace fourhold::search
