// What of a run is both predicted and measured.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace fourhold::confidence {

// Memory of one device, and time of one optimizer step. `memory_reserved` is what the allocator
// holds, or what the whole process does, as the source of a measurement says.
enum class Metric : std::uint8_t { memory_allocated, memory_reserved, step_time };
inline constexpr std::array<std::string_view, 3> kMetricNames{"memory_allocated", "memory_reserved",
                                                              "step_time"};

}  // namespace fourhold::confidence
