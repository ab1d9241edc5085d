// One step of training, put together: the program's forwards and backwards, then norm, clip and
// update. Read it to see what a step is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fourhold/engine/data/dataset.h"
#include "fourhold/engine/executor/executor.h"
#include "fourhold/engine/optimizer/gradient_norm.h"
#include "fourhold/engine/optimizer/hyperparameters.h"
#include "fourhold/engine/optimizer/overflow.h"
#include "fourhold/engine/optimizer/schedule.h"
#include "fourhold/engine/optimizer/stall_meter.h"
#include "fourhold/engine/optimizer/update.h"
#include "fourhold/engine/train/token_share.h"

namespace fourhold::engine {

struct StepOptions {
  Hyperparameters hyperparameters;
  Schedule schedule;
  double clip_norm = 1;  // 0: gradients are not clipped
  std::uint64_t seed = 0;
};

// What a step did.
struct StepReport {
  std::int64_t step = 0;
  double loss = 0;  // mean over the tokens that are learned
  std::int64_t learned_tokens = 0;
  double gradient_norm = 0;  // before clipping
  double learning_rate = 0;
  StallCount stall;
};

// Feeds the executor with data and updates the weights. A loss, gradient or update that is not
// finite is an Error that names the step, thrown before any weight is written.
class TrainingStep final : public StepDriver {
 public:
  // `dataset` must outlive this. Precision and threads are the plan's; `at` is where the rank
  // stands among others.
  TrainingStep(const data::Dataset& dataset, const plan::Plan& plan, const StepOptions& options,
               const plan::Coordinates& at = {});

  // Runs step `step` (from 1) on the batch at `position`.
  StepReport run(std::int64_t step, data::DataPosition position, Executor& executor);

  std::int64_t count_tokens() override;
  void load_ids(std::int64_t micro_batch, const Tensor& ids) override;
  void load_targets(std::int64_t micro_batch, const Tensor& targets) override;
  void loss(double mean) override;
  void learned_tokens(std::int64_t tokens) override;
  double squared_norm(std::span<const ParameterTensors> parameters) override;
  void total_squared_norm(double squared) override;
  void clip(std::span<const ParameterTensors> parameters) override;
  void optimize(const ParameterTensors& parameter) override;

 private:
  [[nodiscard]] StepFactors factors_of(const ParameterTensors& parameter) const;
  [[nodiscard]] UpdateOptions update_options() const;
  [[nodiscard]] int threads() const { return static_cast<int>(plan_.threads); }
  // Returns how many of the rank's own tokens of it are learned.
  std::int64_t read_micro_batch(std::int64_t micro_batch);

  const data::Dataset& dataset_;
  plan::Plan plan_;
  StepOptions options_;
  TokenShare share_;
  std::vector<data::TokenId> ids_;  // of the micro-batch that was read last, whole sequences
  std::vector<data::TokenId> targets_;
  std::int64_t read_ = -1;  // which one that is
  data::DataPosition position_;
  StepReport report_;
  double gradient_scale_ = 1;
  Magnitudes magnitudes_;       // of weights and moments, after the last step
  Magnitudes next_magnitudes_;  // of those updated so far
};

}  // namespace fourhold::engine
