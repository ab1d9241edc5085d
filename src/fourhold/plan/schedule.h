// The order in which one pipeline stage runs its micro-batches.
#pragma once

#include <cstdint>
#include <optional>
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

// Turns of a schedule that differ in nothing but the micro-batch: each runs a forward of one chunk,
// a backward of one, or the two in this order, for the micro-batches from the stated ones on.
struct SlotRun {
  std::optional<Slot> forward;
  std::optional<Slot> backward;
  std::int64_t turns = 0;
};

// Forwards (micro-batch x virtual stage) of a pipeline that are replayed for its time: at most this
// many, about a second's work.
inline constexpr std::int64_t kMostPipelineForwards = std::int64_t{1} << 23;

// GPipe: all forwards, then all backwards. 1F1B: stage i runs min(m, p - i - 1) forwards ahead
// (Narayanan 2021, arXiv 2104.04473, sec. 2.2). Interleaved: min(m v, 2 (p - i - 1) + (v - 1) p)
// chunks ahead, m a multiple of p (the same, sec. 2.2.2). A handful of runs per chunk and round of
// p micro-batches, however many micro-batches there are.
[[nodiscard]] std::vector<SlotRun> stage_runs(ScheduleKind kind, std::int64_t pp,
                                              std::int64_t stage, std::int64_t vpp,
                                              std::int64_t micro_batches);

// The same written out, two slots per chunk and micro-batch.
[[nodiscard]] std::vector<Slot> stage_slots(ScheduleKind kind, std::int64_t pp, std::int64_t stage,
                                            std::int64_t vpp, std::int64_t micro_batches);

// Most chunks whose forward has run and whose backward has not finished, over the whole schedule.
[[nodiscard]] std::int64_t chunks_in_flight(ScheduleKind kind, std::int64_t pp, std::int64_t stage,
                                            std::int64_t vpp, std::int64_t micro_batches);

}  // namespace fourhold::plan
