#include "fourhold/predict/pipeline_time.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fourhold::predict {
namespace {

using plan::ScheduleKind;

double replayed(const PipelineInput& input) {
  const std::vector<double> ends = replay(input);
  return *std::max_element(ends.begin(), ends.end());
}

PipelineInput equal_stages(ScheduleKind schedule, std::int64_t pp, std::int64_t vpp,
                           std::int64_t micro_batches, const ChunkSeconds& chunk) {
  return {.schedule = schedule,
          .pp = pp,
          .vpp = vpp,
          .micro_batches = micro_batches,
          .chunks = std::vector<ChunkSeconds>(static_cast<std::size_t>(pp * vpp), chunk)};
}

TEST(Pipeline, OneStageWorksWithoutPause) {
  EXPECT_EQ(replayed(equal_stages(ScheduleKind::one_f_one_b, 1, 1, 5, {1, 2})), 15);
}

TEST(Pipeline, TheBubbleOfEqualStagesIsPMinusOneOverM) {
  // 4 stages, 8 micro-batches of 3 s: (8 + 3) x 3 = 33; ideal 24; bubble 9 / 24 = 3 / 8.
  for (const ScheduleKind kind : {ScheduleKind::one_f_one_b, ScheduleKind::gpipe}) {
    const PipelineInput input = equal_stages(kind, 4, 1, 8, {1, 2});
    EXPECT_DOUBLE_EQ(replayed(input), 33);
    EXPECT_DOUBLE_EQ(pipeline_lower_bound(input), 33);
  }
}

TEST(Pipeline, InterleavingDividesTheBubbleByTheChunks) {
  // The same work in 2 chunks of 1.5 s each: (16 + 3) x 1.5 = 28.5; bubble 4.5 / 24 = 3 / (2 x 8).
  const PipelineInput input = equal_stages(ScheduleKind::interleaved, 4, 2, 8, {0.5, 1});
  EXPECT_DOUBLE_EQ(replayed(input), 28.5);
  EXPECT_DOUBLE_EQ(pipeline_lower_bound(input), 28.5);
}

TEST(Pipeline, ASlowStageSetsThePaceAndTheOthersFillAndDrain) {
  // Stages of 1+1, 3+3, 1+1 and 4 micro-batches, by hand: the middle one starts at 1, works 4 x 6 =
  // 24, waits for the last stage's 2 after its first and last forward less what it does meanwhile
  // (max(0, 2 - 3) = 0), and the first stage drains 1: 26.
  PipelineInput input = equal_stages(ScheduleKind::one_f_one_b, 3, 1, 4, {1, 1});
  input.chunks[1] = {3, 3};
  EXPECT_DOUBLE_EQ(replayed(input), 26);
  EXPECT_DOUBLE_EQ(pipeline_lower_bound(input), 26);
}

TEST(Pipeline, AnEdgeDelaysFillAndDrain) {
  // One micro-batch through 3 stages of 1 + 2 with edges of 0.5: 9 + 4 x 0.5.
  PipelineInput input = equal_stages(ScheduleKind::one_f_one_b, 3, 1, 1, {1, 2});
  input.edge_seconds = 0.5;
  EXPECT_DOUBLE_EQ(replayed(input), 11);
  EXPECT_DOUBLE_EQ(pipeline_lower_bound(input), 11);
}

TEST(Pipeline, TheFirstStageEndsLast) {
  const std::vector<double> ends = replay(equal_stages(ScheduleKind::one_f_one_b, 4, 1, 8, {1, 2}));
  EXPECT_EQ(ends, (std::vector<double>{33, 31, 29, 27}));  // each 2 s after the one behind it
}

PipelineInput random_pipeline() {
  PipelineInput input;
  input.pp = *rc::gen::inRange<std::int64_t>(1, 9);
  input.schedule =
      *rc::gen::element(ScheduleKind::gpipe, ScheduleKind::one_f_one_b, ScheduleKind::interleaved);
  input.micro_batches = *rc::gen::inRange<std::int64_t>(1, 20);
  if (input.schedule == ScheduleKind::interleaved) {
    input.vpp = *rc::gen::inRange<std::int64_t>(2, 4);
    input.micro_batches = input.pp * *rc::gen::inRange<std::int64_t>(1, 5);
  }
  return input;
}

// Whole seconds: sums are exact.
double whole_seconds() { return *rc::gen::inRange(1, 12); }

RC_GTEST_PROP(Pipeline, TheBoundNeverExceedsTheReplay, ()) {
  PipelineInput input = random_pipeline();
  input.edge_seconds = *rc::gen::inRange(0, 3);
  for (std::int64_t i = 0; i < input.pp * input.vpp; ++i) {
    input.chunks.push_back({whole_seconds(), whole_seconds()});
  }
  const std::vector<double> bounds = stage_end_bounds(input);
  const std::vector<double> ends = replay(input);
  for (std::size_t stage = 0; stage < ends.size(); ++stage) {
    RC_ASSERT(bounds[stage] <= ends[stage]);
  }
  RC_ASSERT(pipeline_lower_bound(input) == bounds.front());
}

RC_GTEST_PROP(Pipeline, TheBoundIsTheReplayWhereStagesAreEqual, ()) {
  PipelineInput input = random_pipeline();
  const ChunkSeconds chunk{whole_seconds(), whole_seconds()};
  input.chunks.assign(static_cast<std::size_t>(input.pp * input.vpp), chunk);
  const auto work = static_cast<double>(input.micro_batches * input.vpp + input.pp - 1);
  RC_ASSERT(replayed(input) == work * chunk.both());
  RC_ASSERT(stage_end_bounds(input) == replay(input));
}

}  // namespace
}  // namespace fourhold::predict
