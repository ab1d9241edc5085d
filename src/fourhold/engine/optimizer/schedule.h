// The learning rate of every step: a linear warm-up, then constant, cosine or linear.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace fourhold::engine {

enum class Decay : std::uint8_t { constant, cosine, linear };
inline constexpr std::array<std::string_view, 3> kDecayNames{"constant", "cosine", "linear"};

struct Schedule {
  Decay decay = Decay::cosine;
  double peak = 0;     // learning rate at the end of the warm-up
  double minimum = 0;  // learning rate of the last step; of no meaning when constant
  std::int64_t warm_up_steps = 0;
  std::int64_t steps = 1;  // of the whole run, warm-up included
};

// min(100, steps / 10): a short run is not all warm-up.
[[nodiscard]] constexpr std::int64_t default_warm_up(std::int64_t steps) {
  return steps / 10 < 100 ? steps / 10 : 100;
}

// Throws Error, by the names of the flags, when the peak is not positive and finite or too small
// for fp32, the minimum is outside [0, peak], a run has no step, or the warm-up is longer than the
// run.
void check(const Schedule& schedule);

// The rate of step s = 1 ... steps, with W the warm-up and x = (s - W) / (steps - W):
//   s <= W: peak s / W               (the first step is peak / W, not 0)
//   cosine: minimum + (peak - minimum) (1 + cos(pi x)) / 2     I. Loshchilov, F. Hutter, arXiv
//   linear: minimum + (peak - minimum) (1 - x)                 1608.03983, eq. 5, one period
// Without a warm-up x counts from the first step, so that the first is the peak and the last the
// minimum: x = (s - 1) / (steps - 1). A step past the end keeps the last rate.
[[nodiscard]] double learning_rate(const Schedule& schedule, std::int64_t step);

}  // namespace fourhold::engine
