// Where a host is ahead of its device: each rule on a few steps of a program.
#include "fourhold/predict/host_lead.h"

#include <gtest/gtest.h>

#include <vector>

namespace fourhold::predict {
namespace {

using plan::Work;

// Whether the host is ahead after each of these steps, on that stage of `stages`.
std::vector<bool> leads(std::int64_t stages, std::int64_t stage, const std::vector<Work>& steps) {
  plan::Program program;
  program.plan.pp = stages;
  program.stage = stage;
  const plan::ProgramBlocks blocks;
  HostLead lead(program, blocks);
  std::vector<bool> ahead;
  for (const Work work : steps) {
    plan::StepInstance at;
    at.work = work;
    ahead.push_back(lead.follow(at).ahead);
  }
  return ahead;
}

TEST(HostLead, OfOneStageLastsThroughout) {
  EXPECT_EQ(leads(1, 0, {Work::load_ids, Work::count_tokens, Work::load_ids, Work::count_tokens}),
            (std::vector<bool>{true, true, true, true}));
}

// Four stages: the first sends three activations before it receives a gradient. The third forward
// is the first that stands behind a send.
TEST(HostLead, OfTheFirstStageBeginsWithTheThirdForwardAndEndsWithTheFirstGradient) {
  EXPECT_EQ(
      leads(4, 0,
            {Work::load_ids, Work::send_activation, Work::load_ids, Work::send_activation,
             Work::load_ids, Work::send_activation, Work::load_ids, Work::count_tokens,
             Work::receive_gradient, Work::count_tokens, Work::load_ids}),
      (std::vector<bool>{false, false, false, false, true, true, true, true, false, false, false}));
}

TEST(HostLead, IsNoneOnStagesThatReceiveTheirInput) {
  EXPECT_EQ(leads(4, 1,
                  {Work::receive_activation, Work::count_tokens, Work::receive_activation,
                   Work::receive_activation, Work::count_tokens}),
            (std::vector<bool>{false, false, false, false, false}));
}

}  // namespace
}  // namespace fourhold::predict
