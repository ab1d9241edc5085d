// The order in which one pipeline stage runs its micro-batches.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/plan/plan.h"

namespace fourhold::plan {

enum class Direction : std::uint8_t { forward, backward };

// One micro-batch through one chunk of layers of this stage. Virtual stage = chunk x pp + stage.
struct Slot {
  Direction direction = Direction::forward;
  std::int32_t chunk = 0;
  std::int32_t micro_batch = 0;
  friend bool operator==(const Slot&, const Slot&) = default;
};

// GPipe: all forwards, then all backwards. 1F1B: stage i runs min(m, p - i - 1) forwards ahead
// (Narayanan 2021, arXiv 2104.04473, sec. 2.2). Interleaved: min(m v, 2 (p - i - 1) + (v - 1) p)
// chunks ahead, m a multiple of p (the same, sec. 2.2.2).
[[nodiscard]] std::vector<Slot> stage_slots(ScheduleKind kind, std::int64_t pp, std::int64_t stage,
                                            std::int64_t vpp, std::int64_t micro_batches);

// Most chunks whose forward has run and whose backward has not finished, over the whole schedule.
[[nodiscard]] std::int64_t chunks_in_flight(ScheduleKind kind, std::int64_t pp, std::int64_t stage,
                                            std::int64_t vpp, std::int64_t micro_batches);

}  // namespace fourhold::plan
