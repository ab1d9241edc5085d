#include "fourhold/predict/slot_states.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>

namespace fourhold::predict {
namespace {

using plan::Direction;
using plan::ScheduleKind;

struct Pipeline {
  ScheduleKind kind = ScheduleKind::gpipe;
  std::int64_t pp = 1, stage = 0, vpp = 1, micro_batches = 1;
};

Pipeline random_pipeline() {
  Pipeline at;
  at.kind =
      *rc::gen::element(ScheduleKind::gpipe, ScheduleKind::one_f_one_b, ScheduleKind::interleaved);
  at.pp = *rc::gen::inRange<std::int64_t>(1, 20);
  at.stage = *rc::gen::inRange<std::int64_t>(0, at.pp);
  at.micro_batches = *rc::gen::inRange<std::int64_t>(1, 60);
  if (at.kind == ScheduleKind::interleaved) {
    at.vpp = *rc::gen::inRange<std::int64_t>(2, 5);
    at.micro_batches = at.pp * *rc::gen::inRange<std::int64_t>(1, 5);
  }
  return at;
}

// The state before every slot of the whole schedule.
std::vector<SlotState> whole_walk(const Pipeline& at) {
  const auto chunks = static_cast<std::size_t>(at.vpp);
  SlotState now;
  now.alive.assign(chunks, 0);
  now.born.assign(chunks, 0);
  std::vector<SlotState> states;
  for (const plan::Slot& slot :
       plan::stage_slots(at.kind, at.pp, at.stage, at.vpp, at.micro_batches)) {
    const auto chunk = static_cast<std::size_t>(slot.chunk);
    const bool last = chunk + 1 == chunks;
    now.slot = slot;
    now.first_backward = now.born[chunk] == 0;
    states.push_back(now);
    const bool forward = slot.direction == Direction::forward;
    now.alive[chunk] += forward ? 1 : -1;
    if (last) now.last_chunk_alive += forward ? 1 : -1;
    if (last && forward) now.last_chunk_forwarded = true;
    if (!forward) now.born[chunk] = 1;
  }
  return states;
}

// What moments make of a state: bytes that grow with each of its counts, and with whether none, one
// or more of the last chunk's forwards wait.
struct Weights {
  std::vector<std::int64_t> alive, born;
  std::int64_t forwarded = 0, one_waits = 0, more_wait = 0;

  [[nodiscard]] std::int64_t bytes(const SlotState& state) const {
    std::int64_t sum = state.last_chunk_forwarded ? forwarded : 0;
    if (state.last_chunk_alive > 0) sum += one_waits;
    if (state.last_chunk_alive > 1) sum += more_wait;
    for (std::size_t i = 0; i < alive.size(); ++i) {
      sum += alive[i] * state.alive[i] + born[i] * state.born[i];
    }
    return sum;
  }
};

Weights random_weights(std::size_t chunks) {
  const auto weight = [] { return *rc::gen::inRange<std::int64_t>(0, 100); };
  Weights weights;
  for (std::size_t i = 0; i < chunks; ++i) {
    weights.alive.push_back(weight());
    weights.born.push_back(weight());
  }
  weights.forwarded = weight();
  weights.one_waits = weight();
  weights.more_wait = weight();
  return weights;
}

using Work = std::tuple<std::int32_t, Direction, bool>;

std::map<Work, std::int64_t> most(const std::vector<SlotState>& states, const Weights& weights) {
  std::map<Work, std::int64_t> most;
  for (const SlotState& state : states) {
    const Work work{state.slot.chunk, state.slot.direction, state.first_backward};
    const auto at = most.try_emplace(work, -1).first;
    at->second = std::max(at->second, weights.bytes(state));
  }
  return most;
}

RC_GTEST_PROP(SlotStates, HoldTheMostOfTheWholeScheduleWhateverTheBlocksWeigh, ()) {
  const Pipeline at = random_pipeline();
  const auto chunks = static_cast<std::size_t>(at.vpp);
  const std::vector<SlotState> whole = whole_walk(at);
  const SlotStates found =
      fullest_slots(plan::stage_runs(at.kind, at.pp, at.stage, at.vpp, at.micro_batches), chunks);
  const Weights weights = random_weights(chunks);
  RC_ASSERT(most(found.fullest, weights) == most(whole, weights));
  RC_ASSERT(found.in_flight ==
            plan::chunks_in_flight(at.kind, at.pp, at.stage, at.vpp, at.micro_batches));
  // Each is a state of the schedule, in its order.
  auto next = whole.begin();
  for (const SlotState& state : found.fullest) {
    next = std::find_if(next, whole.end(), [&](const SlotState& other) {
      return other.slot == state.slot && other.alive == state.alive && other.born == state.born;
    });
    RC_ASSERT(next != whole.end());
  }
}

// GPipe holds all micro-batches at its first backward: m, at the largest m a plan may have.
TEST(SlotStates, OfHugeSchedulesAreFew) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  const SlotStates states = fullest_slots(plan::stage_runs(ScheduleKind::gpipe, 2, 0, 1, kMost), 1);
  EXPECT_EQ(states.in_flight, kMost);
  ASSERT_EQ(states.fullest.size(), 3U);  // the last forward, the first backward, the second
  EXPECT_EQ(states.fullest[0].alive[0], kMost - 1);
  EXPECT_EQ(states.fullest[1].alive[0], kMost);
  EXPECT_TRUE(states.fullest[1].first_backward);
  EXPECT_EQ(states.fullest[2].alive[0], kMost - 1);
}

}  // namespace
}  // namespace fourhold::predict
