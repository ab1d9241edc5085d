// A whole run: all ranks of a plan, simulated in one process in turns.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/plan/expand.h"
#include "tests/interpreter/parameters.h"

namespace fourhold::interpreter {

// What a step computes, put together from all ranks.
struct Outcome {
  double loss = 0;
  double norm = 0;            // of all gradients, as the program's own step found it
  ParameterValues gradients;  // of all trained parameters, whole
  ParameterValues weights;    // after the step
};

class Simulation {
 public:
  // Lowers the model under the plan. Throws what validate() and lower() throw.
  Simulation(const model::ModelConfig& config, const plan::Plan& plan,
             const plan::Profile& profile);

  // Runs one step on these weights. Throws ProgramFault when a step cannot be executed as stated,
  // when ranks wait for each other for ever (saying where each stands), when anything is left over,
  // and when replicas of the same element disagree.
  [[nodiscard]] Outcome train_step(const ParameterValues& values) const;
  // The loss alone, by the program that evaluates.
  [[nodiscard]] double evaluate(const ParameterValues& values) const;

  // For tests that break the program on purpose.
  [[nodiscard]] plan::ProgramBlocks& blocks() { return blocks_; }
  void leave_out(std::optional<plan::Work> work) { left_out_ = work; }

 private:
  [[nodiscard]] Outcome run(const ParameterValues& values, plan::ProgramKind kind) const;

  model::ModelConfig config_;
  plan::Plan plan_;
  plan::Profile profile_;
  plan::ProgramBlocks blocks_;
  std::optional<plan::Work> left_out_;
};

// The largest difference of two elements, relative to the norm of the tensor it is in, or to 1e-3
// of the norm of all tensors where that is larger (some gradients are zero but for rounding).
struct Difference {
  double relative = 0;
  std::string where;
};
[[nodiscard]] Difference difference(const ParameterValues& expected, const ParameterValues& found);

}  // namespace fourhold::interpreter
