// How long something takes on a machine that others use too.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace fourhold::engine {

// How much time a figure may cost: a few hundredths of a second, or half a second.
enum class Effort : std::uint8_t { quick, thorough };

// Seconds since some moment, never backwards.
[[nodiscard]] double steady_seconds();

// The median of each of `runs`, which are called in turns, so that each finds the caches as the
// others leave them. A first turn warms up; then at least 3 turns and 20 ms, or 9 turns and 0.3 s,
// by `clock`.
[[nodiscard]] std::vector<double> median_seconds_in_turn(
    Effort effort, std::span<const std::function<void()>> runs, double (*clock)() = steady_seconds);

// The same for one alone.
[[nodiscard]] double median_seconds(Effort effort, const std::function<void()>& run,
                                    double (*clock)() = steady_seconds);

}  // namespace fourhold::engine
