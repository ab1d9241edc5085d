#include "fourhold/predict/step_time.h"

#include <gtest/gtest.h>

namespace fourhold::predict {
namespace {

// `pp` equal stages of 1 s forward and `backward` s backward.
StepTimeInput equal_stages(std::int64_t pp, std::int64_t micro_batches, double backward) {
  StepTimeInput input{{.pp = pp, .micro_batches = micro_batches}};
  input.chunks.assign(static_cast<std::size_t>(pp), {1, backward});
  input.work.compute = 1 + backward;
  input.traffic.assign(static_cast<std::size_t>(pp), StateTraffic{});
  return input;
}

StepTimeInput one_stage() { return equal_stages(1, 2, 3); }

double seconds(const StepTimeInput& input) {
  return step_time(input, PipelineMethod::replayed).seconds;
}

TEST(StepTime, OneStageIsItsMicroBatchesOptimizerAndHost) {
  StepTimeInput input = one_stage();
  input.traffic[0].optimizer = 0.5;
  input.host_seconds = 0.25;
  const StepTime step = step_time(input, PipelineMethod::replayed);
  EXPECT_DOUBLE_EQ(step.seconds, 2 * 4 + 0.5 + 0.25);
  EXPECT_DOUBLE_EQ(step.parts.compute, 8);
  EXPECT_DOUBLE_EQ(step.parts.optimizer, 0.5);
  EXPECT_DOUBLE_EQ(step.parts.host, 0.25);
  EXPECT_EQ(step.parts.pipeline_bubble, 0);
}

// Work of 1 s and 3 s: 2 s each way show 1 s of a forward and nothing of a backward, 3.5 s half a
// second of that too. Weights come while activations leave, so in forward the longer counts.
TEST(StepTime, ActivationsTravelBesideTheLayers) {
  StepTimeInput input = one_stage();
  input.residual_seconds = 2;
  EXPECT_DOUBLE_EQ(seconds(input), 2 * (4 + 1));
  EXPECT_DOUBLE_EQ(step_time(input, PipelineMethod::replayed).parts.offload, 2);
  input.residual_seconds = 3.5;
  EXPECT_DOUBLE_EQ(seconds(input), 2 * (4 + 2.5 + 0.5));
  input.residual_seconds = 2;
  input.traffic[0].offload_forward = 1.5;
  input.traffic[0].offload_backward = 1.5;
  EXPECT_DOUBLE_EQ(seconds(input), 2 * (4 + 1 + 0.5));
}

TEST(StepTime, OwnRunsCorrectTheWholeStepAndEveryPart) {
  StepTimeInput input = equal_stages(2, 4, 2);
  const StepTime before = step_time(input, PipelineMethod::replayed);
  input.correction = 0.5;
  const StepTime after = step_time(input, PipelineMethod::replayed);
  EXPECT_DOUBLE_EQ(after.seconds, before.seconds / 2);
  EXPECT_DOUBLE_EQ(after.parts.compute, before.parts.compute / 2);
  EXPECT_DOUBLE_EQ(after.parts.pipeline_bubble, before.parts.pipeline_bubble / 2);
  EXPECT_DOUBLE_EQ(after.parts.total(), after.seconds);
}

TEST(StepTime, TheLastBackwardHidesGradientTraffic) {
  StepTimeInput input = one_stage();
  input.traffic[0].per_step = 5;
  input.data_overlap = 1;
  EXPECT_DOUBLE_EQ(seconds(input), 8 + 2);  // 5 less the 3 of one backward
  input.data_overlap = 0;
  EXPECT_DOUBLE_EQ(seconds(input), 8 + 5);
}

TEST(StepTime, ZeroTwoReducesAfterEachMicroBatch) {
  StepTimeInput input = one_stage();
  input.traffic[0].reduce = 4;
  input.traffic[0].per_step = 4;
  // The first shows 1 beyond its backward; the last and the gather 8 - 3 = 5.
  EXPECT_DOUBLE_EQ(seconds(input), 8 + 1 + 5);
}

TEST(StepTime, ZeroThreeShowsAShareOfTheSmallerOfWorkAndTraffic) {
  StepTimeInput input = one_stage();
  input.gathered_visible = 0.5;
  input.traffic[0].gather_forward = 2;   // forward: 1 beyond the work of 1, and 0.5 of 1
  input.traffic[0].gather_backward = 1;  // backward: 2 of traffic beside 3 of work, 0.5 of 2
  input.traffic[0].reduce = 1;
  const StepTime step = step_time(input, PipelineMethod::replayed);
  EXPECT_DOUBLE_EQ(step.seconds, 8 + 2 * (1.5 + 1));
  EXPECT_DOUBLE_EQ(step.parts.data_parallel, 5);
}

TEST(StepTime, OffloadShowsOnlyBeyondTheWork) {
  StepTimeInput input = one_stage();
  input.traffic[0].offload_forward = 1.5;
  input.traffic[0].offload_backward = 2;
  input.traffic[0].offload_per_step = 7;
  const StepTime step = step_time(input, PipelineMethod::replayed);
  EXPECT_DOUBLE_EQ(step.seconds, 8 + 2 * 0.5 + 7);
  EXPECT_DOUBLE_EQ(step.parts.offload, 8);
}

TEST(StepTime, APipelineAddsItsBubbleAndASendEachWay) {
  StepTimeInput input = equal_stages(2, 4, 2);
  input.send_seconds = 0.5;
  for (const PipelineMethod method : {PipelineMethod::scored, PipelineMethod::replayed}) {
    const StepTime step = step_time(input, method);
    EXPECT_DOUBLE_EQ(step.seconds, (4 + 1) * 4);
    EXPECT_DOUBLE_EQ(step.parts.compute, 12);
    EXPECT_DOUBLE_EQ(step.parts.pipeline_transfer, 4);
    EXPECT_DOUBLE_EQ(step.parts.pipeline_bubble, 4);  // 1 / 4 of the work
  }
}

TEST(StepTime, TheLastStageReducesWhileTheFirstStillWorks) {
  StepTimeInput input = equal_stages(2, 4, 2);
  input.data_overlap = 0;
  input.traffic[1].per_step = 2;  // it ends a backward of 2 s earlier
  EXPECT_DOUBLE_EQ(seconds(input), 15);
  input.traffic[1].per_step = 3;
  EXPECT_DOUBLE_EQ(seconds(input), 16);
}

}  // namespace
}  // namespace fourhold::predict
