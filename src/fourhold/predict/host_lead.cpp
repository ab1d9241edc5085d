#include "fourhold/predict/host_lead.h"

#include <cstddef>

#include "fourhold/predict/host_operations.h"

namespace fourhold::predict {

HostStep HostLead::follow(const plan::StepInstance& at) {
  if (at.work == plan::Work::load_ids) ++forwards_;
  if (host_waits(at.work)) ramp_ = false;
  HostStep step;
  step.ahead = stages_ == 1 || (first_ && ramp_ && forwards_ > 2);
  if (at.work == plan::Work::compute) {
    const plan::ProgramBlock& block = blocks_.blocks[static_cast<std::size_t>(at.block)];
    const auto operation = static_cast<std::size_t>(at.step->operation);
    step.launches = host_operations(block.sharded.operations.operations[operation], *at.step);
  }
  return step;
}

}  // namespace fourhold::predict
