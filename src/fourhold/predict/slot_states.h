// The slots of a stage's schedule before which most is alive. A schedule repeats itself: of its
// many slots only a few can hold the peak, whatever the blocks weigh.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/plan/schedule.h"

namespace fourhold::predict {

// What stands when a slot starts, in counts of chunks.
struct SlotState {
  plan::Slot slot;
  bool first_backward = false;        // no backward of this chunk has finished
  std::int64_t last_chunk_alive = 0;  // forwards of the chunk with the head not yet followed by
                                      // their backward
  bool last_chunk_forwarded = false;  // whether there was one at all
  std::vector<std::int64_t> alive;    // per chunk: forwards whose backward has not finished
  std::vector<std::uint8_t> born;     // per chunk: a backward has finished
};

struct SlotStates {
  std::vector<SlotState> fullest;  // in the order of the schedule
  std::int64_t in_flight = 0;      // most chunks alive together
};

// Leaves out a slot when another one of the same chunk and direction finds at least as much alive,
// and the middle turns of a run (plan::SlotRun): from one turn to the next what is alive changes by
// the same chunks, so bytes are linear in the turn and their extreme lies at an end. Three turns at
// each end are looked at, because what waits changes there: the first backward of a chunk, and the
// last chunk's gradients, whose moments tell 0, 1 and more of them apart.
[[nodiscard]] SlotStates fullest_slots(const std::vector<plan::SlotRun>& runs, std::size_t chunks);

}  // namespace fourhold::predict
