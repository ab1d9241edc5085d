// A whole run: how long it lasts, what it costs, and how much of N devices' speed it keeps.
#pragma once

#include <cstdint>
#include <optional>

#include "fourhold/predict/time.h"

namespace fourhold::predict {

inline constexpr double kSecondsPerDay = 86400;

// One device with unlimited memory: the same global batch, no recomputation, no offload, no
// communication, at its best micro-batch.
struct SingleDevice {
  std::int64_t micro_batch = 1;
  double step_seconds = 0;
};

// The best over all divisors of the plan's global batch. It depends on the model, the batch, the
// sequence, the precision and the profile only, so plans of one search share it.
[[nodiscard]] SingleDevice single_device(const model::ModelConfig& config, const plan::Plan& plan,
                                         const plan::Profile& profile,
                                         const hardware::Cluster& cluster);

// speedup = the single device's step / this step, at the same global batch; speedup_kept = speedup
// / devices. One device can also do the work of N in turn, each step in N times the plan's, and its
// best time is never more than that: speedup_kept is never above 1.
struct Speedup {
  double speedup = 1;
  double speedup_kept = 1;
};
[[nodiscard]] Speedup speedup_of(double single_device_seconds, double step_seconds,
                                 std::int64_t devices);

struct RunRequest {
  double tokens = 0;  // of the whole run; at least one step's
  std::optional<double> price_usd_per_device_hour;
};

// Steps are not rounded: a run of 1.5 steps' tokens lasts 1.5 steps.
struct RunPrediction {
  double tokens = 0;
  double steps = 0;
  double days = 0;
  double single_device_days = 0;
  double speedup = 1;
  double speedup_kept = 1;
  std::optional<double> cost_usd;  // none without a price
};
// Throws Error unless tokens is above 0.
[[nodiscard]] RunPrediction predict_run(const RunRequest& request, const plan::Plan& plan,
                                        double step_seconds, const SingleDevice& single);

}  // namespace fourhold::predict
