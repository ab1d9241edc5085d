// Torch's side: what reference.py computes from a job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fourhold/plan/recipe.h"
#include "tests/torch/engine_run.h"

namespace fourhold::engine::torch_oracle {

struct TorchJob {
  plan::Precision precision = plan::Precision::fp32;
  std::string tokens;
  std::vector<std::string> points;  // folders of weights to compute logits and gradients at
  std::vector<std::int64_t> batch;  // the sequences of their loss
  std::string start;                // weights that training starts from
  std::vector<std::vector<std::int64_t>> batches;  // the sequences of every step
  std::string out;                                 // a folder for its files
};

struct TorchPoint {
  double loss = 0;
  Gradients gradients;
  std::vector<double> log_probabilities;  // [kMicroBatch x kSeq, kVocabulary]
};

struct TorchStep {
  double loss = 0;
  double norm = 0;  // of all gradients, before clipping
};

struct TorchResult {
  std::vector<TorchPoint> points;
  std::vector<TorchStep> steps;
};

// Runs the script under Debian's python3, on one thread. Throws std::runtime_error with what the
// script wrote where it fails: python3-torch is missing, or the script is at fault.
[[nodiscard]] TorchResult run_torch(const TorchJob& job, const model::ModelConfig& config);

}  // namespace fourhold::engine::torch_oracle
