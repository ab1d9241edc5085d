// When each thread of a step multiplies matrices for the first time: then its library makes a
// workspace.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "fourhold/plan/expand.h"
#include "fourhold/predict/framework_buffers.h"

namespace fourhold::predict {

class FirstProducts {
 public:
  // One step of a block's operations.
  void note(const plan::ProgramBlock& block, const plan::StepInstance& at, std::int64_t now) {
    const auto operation = static_cast<std::size_t>(at.step->operation);
    if (block.sharded.operations.operations[operation].kind != model::OpKind::linear) return;
    std::int64_t& first = steps_[at.step->phase == plan::Phase::forward ? 0 : 1];
    if (first < 0) first = now;
  }
  // Of the thread that has this copy of the workspace; 0 where it multiplies nothing.
  [[nodiscard]] std::int64_t of(std::int64_t copy) const {
    return std::max<std::int64_t>(steps_[copy == kForwardThread ? 0 : 1], 0);
  }

 private:
  std::array<std::int64_t, 2> steps_{-1, -1};  // forward's, backward's
};

}  // namespace fourhold::predict
