// Where the host runs ahead of the device: there memory that waits for the device is not free yet
// when the host asks again.
#pragma once

#include <cstdint>

#include "fourhold/plan/expand.h"

namespace fourhold::predict {

// Kernels that a stream holds before a launch waits (CUDA's queue of one stream): no host is
// further ahead.
inline constexpr std::int64_t kLaunchQueue = 1024;

// Whether the host goes on only when the device is there.
[[nodiscard]] constexpr bool host_waits(plan::Work work) {
  return work == plan::Work::receive_activation || work == plan::Work::receive_gradient ||
         work == plan::Work::reduce_loss;
}

// What the host does at one step.
struct HostStep {
  std::int32_t launches = 0;  // kernels
  bool ahead = false;         // of the device
};

// Follows one rank's program, step by step.
//  - One stage: nothing makes the host wait before the loss is read, so it is ahead throughout.
//  - The first of several stages: its first two forwards run as they are launched. Each later one,
//    up to the first gradient that is received, stands on the device behind a send for which the
//    next stage is not ready, and the host does not.
//  - Later stages begin each forward with a receive, for which the host waits too.
class HostLead {
 public:
  HostLead(const plan::Program& program, const plan::ProgramBlocks& blocks)
      : blocks_(blocks), stages_(program.plan.pp), first_(program.stage == 0) {}

  HostStep follow(const plan::StepInstance& at);

 private:
  const plan::ProgramBlocks& blocks_;
  std::int64_t stages_;
  bool first_;
  bool ramp_ = true;  // nothing has been received
  std::int64_t forwards_ = 0;
};

}  // namespace fourhold::predict
