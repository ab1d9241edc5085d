#include "fourhold/predict/slot_states.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace fourhold::predict {
namespace {

using plan::Direction;

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

class Schedule {
 public:
  explicit Schedule(std::size_t chunks) : chunks_(chunks), offered_(4 * chunks) {
    now_.alive.assign(chunks, 0);
    now_.born.assign(chunks, 0);
  }

  void run(const plan::SlotRun& run) {
    constexpr std::int64_t kEnd = 3;
    for (std::int64_t turn = 0; turn < run.turns; ++turn) {
      if (turn == kEnd && run.turns > 2 * kEnd) {
        const std::int64_t skipped = run.turns - 2 * kEnd;
        if (run.forward) count(*run.forward, skipped);
        if (run.backward) count(*run.backward, -skipped);
        most_in_flight_ = std::max(most_in_flight_, in_flight_);
        turn += skipped;
      }
      if (run.forward) forward(*run.forward, turn);
      if (run.backward) backward(*run.backward, turn);
    }
  }

  [[nodiscard]] SlotStates take() {
    std::vector<Offered> all;
    for (std::vector<Offered>& of_work : offered_) {
      std::move(of_work.begin(), of_work.end(), std::back_inserter(all));
    }
    std::sort(all.begin(), all.end(),
              [](const Offered& a, const Offered& b) { return a.order < b.order; });
    SlotStates states;
    states.in_flight = most_in_flight_;
    states.fullest.reserve(all.size());
    for (Offered& one : all) states.fullest.push_back(std::move(one.state));
    return states;
  }

 private:
  struct Offered {
    std::int64_t order = 0;
    SlotState state;
  };

  [[nodiscard]] bool is_last(const plan::Slot& slot) const {
    return static_cast<std::size_t>(slot.chunk) + 1 == chunks_;
  }

  void count(const plan::Slot& slot, std::int64_t forwards) {
    now_.alive[static_cast<std::size_t>(slot.chunk)] += forwards;
    in_flight_ += forwards;
    if (is_last(slot)) now_.last_chunk_alive += forwards;
  }

  void forward(const plan::Slot& slot, std::int64_t turn) {
    offer(slot, turn);
    count(slot, 1);
    most_in_flight_ = std::max(most_in_flight_, in_flight_);
    if (is_last(slot)) now_.last_chunk_forwarded = true;
  }

  void backward(const plan::Slot& slot, std::int64_t turn) {
    offer(slot, turn);
    count(slot, -1);
    now_.born[static_cast<std::size_t>(slot.chunk)] = 1;
  }

  void offer(plan::Slot slot, std::int64_t turn) {
    const auto chunk = static_cast<std::size_t>(slot.chunk);
    slot.micro_batch += static_cast<std::int32_t>(turn);
    now_.slot = slot;
    now_.first_backward = now_.born[chunk] == 0;
    const bool is_forward = slot.direction == Direction::forward;
    std::vector<Offered>& same_work =
        offered_[4 * chunk + (is_forward ? 2 : 0) + (now_.first_backward ? 1 : 0)];
    for (const Offered& other : same_work) {
      if (covers(other.state, now_)) return;
    }
    std::erase_if(same_work, [this](const Offered& other) { return covers(now_, other.state); });
    same_work.push_back({order_++, now_});
  }

  std::size_t chunks_;
  SlotState now_;
  std::int64_t in_flight_ = 0;
  std::int64_t most_in_flight_ = 0;
  std::int64_t order_ = 0;
  std::vector<std::vector<Offered>> offered_;  // by chunk, direction and whether it is the first
};

}  // namespace

SlotStates fullest_slots(const std::vector<plan::SlotRun>& runs, std::size_t chunks) {
  Schedule schedule(chunks);
  for (const plan::SlotRun& run : runs) schedule.run(run);
  return schedule.take();
}

}  // namespace fourhold::predict
