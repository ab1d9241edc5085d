#include "fourhold/engine/optimizer/schedule.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include <fmt/format.h>

#include "fourhold/base/error.h"

namespace fourhold::engine {
namespace {

// Updates are made in fp32, which rounds what is smaller than this to few bits or to 0
// (IEEE 754: the least normal number of binary32, 2^-126).
constexpr double kLeastRate = std::numeric_limits<float>::min();

}  // namespace

void check(const Schedule& schedule) {
  if (schedule.steps < 1) {
    throw Error("--steps", "a run has at least 1 step, not " + std::to_string(schedule.steps));
  }
  if (!(schedule.peak > 0) || !std::isfinite(schedule.peak)) {
    throw Error("--lr", fmt::format("must be positive and finite, not {:g}", schedule.peak),
                "3e-4 is a usual start");
  }
  if (schedule.peak < kLeastRate) {
    throw Error("--lr",
                fmt::format("{:g} is below {:.4g}, the least that fp32 holds in full: updates "
                            "would be rounded to 0",
                            schedule.peak, kLeastRate),
                "3e-4 is a usual start");
  }
  if (!(schedule.minimum >= 0 && schedule.minimum <= schedule.peak)) {
    throw Error(
        "--min-lr",
        fmt::format("must be between 0 and --lr ({:g}), not {:g}", schedule.peak, schedule.minimum),
        "a tenth of --lr is usual");
  }
  if (schedule.warm_up_steps < 0 || schedule.warm_up_steps > schedule.steps) {
    throw Error(
        "--warm-up",
        fmt::format("{} steps of warm-up in a run of {}", schedule.warm_up_steps, schedule.steps),
        fmt::format("at most --steps; {} if not given", default_warm_up(schedule.steps)));
  }
}

double learning_rate(const Schedule& schedule, std::int64_t step) {
  assert(step >= 1 && "steps count from 1");
  const std::int64_t warm_up = schedule.warm_up_steps;
  if (step < warm_up) {
    return schedule.peak * static_cast<double>(step) / static_cast<double>(warm_up);
  }
  const std::int64_t peak_step = std::max<std::int64_t>(warm_up, 1);
  const std::int64_t falling = schedule.steps - peak_step;
  const std::int64_t fallen = std::min(step - peak_step, falling);
  if (fallen == 0) return schedule.peak;
  const double x = static_cast<double>(fallen) / static_cast<double>(falling);
  const double range = schedule.peak - schedule.minimum;
  switch (schedule.decay) {
    case Decay::constant:
      return schedule.peak;
    case Decay::cosine:
      return schedule.minimum + range * (1 + std::cos(std::numbers::pi * x)) / 2;
    case Decay::linear:
      return schedule.minimum + range * (1 - x);
  }
  return schedule.peak;
}

}  // namespace fourhold::engine
