#include "fourhold/predict/slot_states.h"

#include <algorithm>
#include <cstddef>

namespace fourhold::predict {
namespace {

using plan::Direction;

bool same_work(const SlotState& a, const SlotState& b) {
  return a.slot.chunk == b.slot.chunk && a.slot.direction == b.slot.direction &&
         a.first_backward == b.first_backward;
}

// Everything alive at `small` is alive at `large`.
bool covers(const SlotState& large, const SlotState& small) {
  if (large.last_chunk_alive < small.last_chunk_alive ||
      large.last_chunk_forwarded < small.last_chunk_forwarded) {
    return false;
  }
  for (std::size_t i = 0; i < small.alive.size(); ++i) {
    if (large.alive[i] < small.alive[i] || large.born[i] < small.born[i]) return false;
  }
  return true;
}

void offer(std::vector<SlotState>& states, const SlotState& state) {
  for (const SlotState& other : states) {
    if (same_work(other, state) && covers(other, state)) return;
  }
  std::erase_if(states, [&](const SlotState& other) {
    return same_work(other, state) && covers(state, other);
  });
  states.push_back(state);
}

}  // namespace

SlotStates fullest_slots(const std::vector<plan::Slot>& slots, std::size_t chunks) {
  SlotStates result;
  SlotState now;
  now.alive.assign(chunks, 0);
  now.born.assign(chunks, 0);
  std::int64_t in_flight = 0;
  for (const plan::Slot& slot : slots) {
    const auto chunk = static_cast<std::size_t>(slot.chunk);
    const bool last_chunk = chunk + 1 == chunks;
    now.slot = slot;
    now.first_backward = now.born[chunk] == 0;
    offer(result.fullest, now);
    if (slot.direction == Direction::forward) {
      ++now.alive[chunk];
      result.in_flight = std::max(result.in_flight, ++in_flight);
      if (last_chunk) {
        ++now.last_chunk_alive;
        now.last_chunk_forwarded = true;
      }
    } else {
      --now.alive[chunk];
      --in_flight;
      now.born[chunk] = 1;
      if (last_chunk) --now.last_chunk_alive;
    }
  }
  return result;
}

}  // namespace fourhold::predict
