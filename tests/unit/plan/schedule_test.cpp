#include "fourhold/plan/schedule.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace fourhold::plan {
namespace {

struct Case {
  ScheduleKind kind;
  std::int64_t pp, vpp, micro_batches;
};

// All schedules of up to 8 stages, 4 chunks and 16 micro-batches.
std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (std::int64_t p = 1; p <= 8; ++p) {
    for (std::int64_t m = 1; m <= 16; ++m) {
      cases.push_back({ScheduleKind::one_f_one_b, p, 1, m});
      for (std::int64_t v = 1; v <= 4; ++v) {
        cases.push_back({ScheduleKind::gpipe, p, v, m});
        if (m % p == 0) cases.push_back({ScheduleKind::interleaved, p, v, m});
      }
    }
  }
  return cases;
}

std::string name(const Case& at) {
  return testing::PrintToString(static_cast<int>(at.kind)) + " p " + std::to_string(at.pp) + " v " +
         std::to_string(at.vpp) + " m " + std::to_string(at.micro_batches);
}

std::int64_t most_alive(const std::vector<Slot>& slots) {
  std::int64_t alive = 0;
  std::int64_t most = 0;
  for (const Slot& slot : slots) {
    if (slot.direction == Direction::forward) {
      most = std::max(most, ++alive);
    } else {
      --alive;  // until here its saved tensors are needed
    }
  }
  return most;
}

// The closed forms of the literature: m; min(m, p - i); min(m v, 2 (p - i - 1) + (v - 1) p + 1).
std::int64_t expected_in_flight(const Case& at, std::int64_t stage) {
  const std::int64_t m = at.micro_batches;
  switch (at.kind) {
    case ScheduleKind::gpipe:
      return m * at.vpp;
    case ScheduleKind::one_f_one_b:
      return std::min(m, at.pp - stage);
    case ScheduleKind::interleaved:
      return std::min(m * at.vpp, 2 * (at.pp - stage - 1) + (at.vpp - 1) * at.pp + 1);
  }
  return -1;
}

TEST(Schedule, ChunksInFlightAreTheClosedFormAndWhatTheSlotsHold) {
  for (const Case& at : all_cases()) {
    for (std::int64_t stage = 0; stage < at.pp; ++stage) {
      const std::int64_t expected = expected_in_flight(at, stage);
      EXPECT_EQ(chunks_in_flight(at.kind, at.pp, stage, at.vpp, at.micro_batches), expected)
          << name(at) << " stage " << stage;
      EXPECT_EQ(most_alive(stage_slots(at.kind, at.pp, stage, at.vpp, at.micro_batches)), expected)
          << name(at) << " stage " << stage;
    }
  }
}

TEST(Schedule, EachForwardRunsOnceAndItsBackwardOnceAfterIt) {
  for (const Case& at : all_cases()) {
    for (std::int64_t stage = 0; stage < at.pp; ++stage) {
      const std::size_t count = static_cast<std::size_t>(at.vpp * at.micro_batches);
      std::vector<int> forwards(count, 0);
      std::vector<int> backwards(count, 0);
      for (const Slot& slot : stage_slots(at.kind, at.pp, stage, at.vpp, at.micro_batches)) {
        ASSERT_LT(slot.chunk, at.vpp);
        ASSERT_LT(slot.micro_batch, at.micro_batches);
        const auto index =
            static_cast<std::size_t>(slot.chunk * at.micro_batches + slot.micro_batch);
        if (slot.direction == Direction::forward) {
          ++forwards[index];
        } else {
          EXPECT_EQ(forwards[index], 1) << name(at);
          ++backwards[index];
        }
      }
      EXPECT_EQ(std::count(forwards.begin(), forwards.end(), 1), static_cast<std::ptrdiff_t>(count))
          << name(at);
      EXPECT_EQ(std::count(backwards.begin(), backwards.end(), 1),
                static_cast<std::ptrdiff_t>(count))
          << name(at);
    }
  }
}

// Runs all stages side by side: a forward waits for the stage before it in the model, a backward
// for the one after it. Returns the slots that could not run.
std::size_t slots_left(const Case& at) {
  const std::int64_t stages = at.pp * at.vpp;  // virtual
  const auto index = [&at](std::int64_t virtual_stage, std::int64_t micro_batch) {
    return static_cast<std::size_t>(virtual_stage * at.micro_batches + micro_batch);
  };
  std::array<std::vector<bool>, 2> done;
  for (auto& list : done) list.assign(index(stages, 0), false);
  std::vector<std::vector<Slot>> slots;
  for (std::int64_t stage = 0; stage < at.pp; ++stage) {
    slots.push_back(stage_slots(at.kind, at.pp, stage, at.vpp, at.micro_batches));
  }
  std::vector<std::size_t> next(slots.size(), 0);
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t stage = 0; stage < slots.size(); ++stage) {
      for (; next[stage] < slots[stage].size(); ++next[stage]) {
        const Slot& slot = slots[stage][next[stage]];
        const std::int64_t own = slot.chunk * at.pp + static_cast<std::int64_t>(stage);
        const bool forward = slot.direction == Direction::forward;
        const std::int64_t source = forward ? own - 1 : own + 1;
        const bool at_end = source < 0 || source == stages;
        if (!at_end && !done[forward ? 0 : 1][index(source, slot.micro_batch)]) break;
        done[forward ? 0 : 1][index(own, slot.micro_batch)] = true;
        progress = true;
      }
    }
  }
  std::size_t left = 0;
  for (std::size_t stage = 0; stage < slots.size(); ++stage) {
    left += slots[stage].size() - next[stage];
  }
  return left;
}

TEST(Schedule, AllStagesTogetherRunToTheEndWithoutDeadlock) {
  for (const Case& at : all_cases()) EXPECT_EQ(slots_left(at), 0U) << name(at);
}

constexpr Direction kF = Direction::forward;
constexpr Direction kB = Direction::backward;

TEST(Schedule, OneForwardOneBackwardAlternatesAfterItsWarmUp) {
  // p 3, stage 1: one forward ahead.
  EXPECT_EQ(
      stage_slots(ScheduleKind::one_f_one_b, 3, 1, 1, 3),
      (std::vector<Slot>{{kF, 0, 0}, {kF, 0, 1}, {kB, 0, 0}, {kF, 0, 2}, {kB, 0, 1}, {kB, 0, 2}}));
}

TEST(Schedule, GPipeRunsAllForwardsFirstAndAddsGradientsInTheSameOrder) {
  EXPECT_EQ(stage_slots(ScheduleKind::gpipe, 2, 0, 1, 2),
            (std::vector<Slot>{{kF, 0, 0}, {kF, 0, 1}, {kB, 0, 0}, {kB, 0, 1}}));
}

TEST(Schedule, InterleavedTurnsToTheNextChunkAfterARoundOfStages) {
  // p 2, v 2, m 2, last stage: 2 chunks ahead; backwards start with the last chunk.
  EXPECT_EQ(stage_slots(ScheduleKind::interleaved, 2, 1, 2, 2), (std::vector<Slot>{{kF, 0, 0},
                                                                                   {kF, 0, 1},
                                                                                   {kF, 1, 0},
                                                                                   {kB, 1, 0},
                                                                                   {kF, 1, 1},
                                                                                   {kB, 1, 1},
                                                                                   {kB, 0, 0},
                                                                                   {kB, 0, 1}}));
}

TEST(Schedule, TheFirstStageOfAnInterleavedPipelineHoldsMoreThanOneModel) {
  // Korthikanti 2022, sec. 4.2.3: L (1 + (p - 1) / (p v)) layers; p 8, v 2: 23 chunks of L / 16.
  EXPECT_EQ(chunks_in_flight(ScheduleKind::interleaved, 8, 0, 2, 64), 23);
}

}  // namespace
}  // namespace fourhold::plan
