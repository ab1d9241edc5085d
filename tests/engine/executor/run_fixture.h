// A tiny model made ready to run: plan, ledger, arena and executor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fourhold/engine/arena/ledger_arena.h"
#include "fourhold/engine/executor/executor.h"
#include "fourhold/model/hf_config.h"
#include "fourhold/model/numerics.h"
#include "fourhold/plan/plan.h"
#include "fourhold/plan/profile.h"

namespace fourhold::engine::testing {

enum class Family : std::uint8_t { gpt2, gpt2_untied, llama, qwen3, mistral };

// config.json of a model of two layers.
[[nodiscard]] std::string config_text(Family family);

// One device; threads 1, isa as given.
[[nodiscard]] plan::Plan tiny_plan(const model::ModelConfig& config);

struct Options {
  Isa isa = Isa::portable;
  Watch watch = Watch::on;
  std::int64_t guard_bytes = 64;
  // Changes the predicted ledger before the arena is laid out by it.
  std::function<void(ledger::Ledger&)> change = {};
};

struct TinyRun {
  model::ModelConfig config;
  model::Numerics numerics;
  plan::Plan plan;
  plan::Profile profile;
  ledger::Ledger predicted;
  std::unique_ptr<LedgerArena> arena;
  std::unique_ptr<Executor> executor;
};
[[nodiscard]] TinyRun make_run(Family family, const std::function<void(plan::Plan&)>& change_plan,
                               const Options& options = {});

// Weights that are no powers of two, moments zero: from a fixed formula of their names.
void fill_weights(std::span<const ParameterTensors> parameters);
inline void fill_weights(Executor& executor) { fill_weights(executor.parameters()); }

// Feeds ids of a fixed formula; leaves weights as they are unless told to step.
class PlainDriver final : public StepDriver {
 public:
  PlainDriver(const TinyRun& run) : run_(run) {}  // NOLINT(google-explicit-constructor)

  std::int64_t count_tokens() override;
  void load_ids(std::int64_t micro_batch, const Tensor& ids) override;
  void load_targets(std::int64_t micro_batch, const Tensor& targets) override;
  void loss(double mean) override { mean_loss = mean; }
  double squared_norm(std::span<const ParameterTensors>) override { return 1; }
  void total_squared_norm(double) override {}
  void clip(std::span<const ParameterTensors>) override {}
  void optimize(const ParameterTensors& parameter) override { updated.push_back(parameter.name); }

  double mean_loss = 0;
  std::vector<std::string> updated;

 private:
  const TinyRun& run_;
};

}  // namespace fourhold::engine::testing
