// The engine's side: a model that starts from published weights, learns, and is looked into.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fourhold/engine/arena/ledger_arena.h"
#include "fourhold/engine/executor/executor.h"
#include "fourhold/engine/train/step.h"
#include "fourhold/model/hf_config.h"
#include "fourhold/model/numerics.h"
#include "fourhold/plan/profile.h"
#include "tests/torch/small_model.h"

namespace fourhold::engine::torch_oracle {

// By to_string(ParameterId), as fp32, in the order of the parameter's elements.
using Gradients = std::map<std::string, std::vector<float>>;

struct LossAndGradients {
  double loss = 0;  // mean over the tokens of a step
  Gradients gradients;
};

class EngineRun {
 public:
  // `dataset` must outlive this.
  EngineRun(Family family, plan::Precision precision, const data::Dataset& dataset);

  // The random weights of the family's initialisation, written as config.json and fp32 safetensors;
  // of a bf16 run the master copy.
  void write_random(const std::string& folder);
  void start_from(const std::string& folder);
  void write(const std::string& folder) const;

  // Of the batch at `position`; nothing is updated.
  [[nodiscard]] LossAndGradients loss_and_gradients(data::DataPosition position);
  // log p(target | the tokens up to `place`), with place in [0, micro_batch x seq) of the first
  // micro-batch at `position`: the loss where every other target is ignored. Over all targets that
  // is the row of logits, less its log-sum-exp.
  [[nodiscard]] double log_probability(data::DataPosition position, std::int64_t place,
                                       data::TokenId target);
  // One step of training on the batch at `position`.
  StepReport step(std::int64_t step, data::DataPosition position);

  [[nodiscard]] const model::ModelConfig& config() const { return config_; }

 private:
  const data::Dataset& dataset_;
  std::string config_text_;
  model::ModelConfig config_;
  model::Numerics numerics_;
  plan::Profile profile_;
  plan::Plan plan_;
  std::unique_ptr<LedgerArena> arena_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<TrainingStep> step_;
};

}  // namespace fourhold::engine::torch_oracle
