#include "fourhold/engine/measure/timing.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace fourhold::engine {

double steady_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

std::vector<double> median_seconds_in_turn(Effort effort,
                                           std::span<const std::function<void()>> runs,
                                           double (*clock)()) {
  const std::size_t least_turns = effort == Effort::quick ? 3 : 9;
  const double least_seconds = effort == Effort::quick ? 0.02 : 0.3;
  for (const std::function<void()>& run : runs) run();
  std::vector<std::vector<double>> seconds(runs.size());
  double total = 0;
  for (std::size_t turn = 0; turn < least_turns || total < least_seconds; ++turn) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const double begin = clock();
      runs[i]();
      seconds[i].push_back(clock() - begin);
      total += seconds[i].back();
    }
  }
  std::vector<double> medians;
  for (std::vector<double>& each : seconds) {
    const auto middle = each.begin() + static_cast<std::ptrdiff_t>(each.size() / 2);
    std::nth_element(each.begin(), middle, each.end());
    medians.push_back(*middle);
  }
  return medians;
}

double median_seconds(Effort effort, const std::function<void()>& run, double (*clock)()) {
  return median_seconds_in_turn(effort, std::span(&run, 1), clock).front();
}

}  // namespace fourhold::engine
