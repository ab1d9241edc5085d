// One run of both sides, and what is looked at: two points of training and the steps between them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/torch/engine_run.h"
#include "tests/torch/torch_run.h"

namespace fourhold::engine::torch_oracle {

struct LogProbability {
  std::int64_t place = 0;  // in the micro-batch
  data::TokenId target = 0;
  double ours = 0;
};

// Weights as a run starts with them, or as twenty steps leave them: then no bias is 0 and no
// norm 1.
struct Point {
  std::string name;
  LossAndGradients ours;
  std::vector<LogProbability> log_probabilities;
};

struct Comparison {
  std::vector<Point> points;      // start, trained
  std::vector<StepReport> steps;  // of ours
  TorchResult torch;
};

// Both sides read the same files of weights and tokens, in `folder`. At each point one whole row of
// logits is asked for, and the log-probability of the true target at every fifth place.
[[nodiscard]] Comparison run_both(Family family, plan::Precision precision,
                                  const std::string& folder);

}  // namespace fourhold::engine::torch_oracle
