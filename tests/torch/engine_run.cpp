#include "tests/torch/engine_run.h"

#include <cstring>
#include <filesystem>

#include "fourhold/engine/checkpoint/published_reader.h"
#include "fourhold/engine/checkpoint/published_writer.h"
#include "fourhold/engine/train/run_weights.h"
#include "fourhold/plan/validate.h"
#include "fourhold/predict/expanded_ledger.h"
#include "fourhold/predict/memory.h"

namespace fourhold::engine::torch_oracle {
namespace {

std::vector<float> values_of(const Tensor& tensor) {
  if (tensor.dtype == DType::fp32) {
    const auto own = tensor.as<float>();
    return {own.begin(), own.end()};
  }
  std::vector<float> values;
  for (const Bf16 value : tensor.as<Bf16>()) values.push_back(to_float(value));
  return values;
}

void copy(const std::vector<data::TokenId>& from, const Tensor& to) {
  std::memcpy(to.data, from.data(), static_cast<std::size_t>(to.bytes()));
}

// Feeds one batch and keeps its gradients; weights stay as they are.
class Probe final : public StepDriver {
 public:
  Probe(const data::Dataset& dataset, data::DataPosition position)
      : dataset_(dataset),
        position_(position),
        ids_(static_cast<std::size_t>(kMicroBatch * kSeq)),
        targets_(ids_.size()) {}

  std::int64_t count_tokens() override { return kBatch * kSeq; }
  void load_ids(std::int64_t micro_batch, const Tensor& ids) override {
    dataset_.fill(position_, micro_batch * kMicroBatch, ids_, targets_);
    copy(ids_, ids);
  }
  void load_targets(std::int64_t micro_batch, const Tensor& targets) override {
    dataset_.fill(position_, micro_batch * kMicroBatch, ids_, targets_);
    copy(targets_, targets);
  }
  void loss(double mean) override { found.loss = mean; }
  double squared_norm(std::span<const ParameterTensors> parameters) override {
    for (const ParameterTensors& parameter : parameters) {
      found.gradients[to_string(parameter.id)] = values_of(parameter.gradient);
    }
    return 0;
  }
  void total_squared_norm(double) override {}
  void clip(std::span<const ParameterTensors>) override {}
  void optimize(const ParameterTensors&) override {}

  LossAndGradients found;

 private:
  const data::Dataset& dataset_;
  data::DataPosition position_;
  std::vector<data::TokenId> ids_;
  std::vector<data::TokenId> targets_;
};

}  // namespace

EngineRun::EngineRun(Family family, plan::Precision precision, const data::Dataset& dataset)
    : dataset_(dataset),
      config_text_(config_text(family)),
      config_(model::read_hf_config(config_text_, "small model")),
      numerics_(model::read_numerics(config_text_, "small model")),
      profile_(plan::load_profile("fourhold")),
      plan_(small_plan(family, precision)) {
  plan::validate(plan_, config_, profile_);
  arena_ = std::make_unique<LedgerArena>(
      predict::expanded_ledger(config_, predict::arena_plan(plan_), profile_, 0),
      LedgerArenaOptions{.threads = static_cast<int>(plan_.threads)});
  executor_ = std::make_unique<Executor>(config_, numerics_, plan_, profile_, *arena_);
  step_ = std::make_unique<TrainingStep>(dataset, plan_, step_options());
}

void EngineRun::write_random(const std::string& folder) {
  start_random(executor_->parameters(), config_,
               {.deviation = numerics_.initializer_range, .seed = 7, .precision = plan_.precision});
  write(folder);
}

void EngineRun::start_from(const std::string& folder) {
  const WeightFiles files(folder);
  const PublishedWeights weights(files.tensors(), config_, folder);
  start_published(executor_->parameters(), weights, plan_.precision);
}

void EngineRun::write(const std::string& folder) const {
  std::filesystem::create_directory(folder);
  std::map<std::string, const ParameterTensors*> by_name;
  for (const ParameterTensors& each : executor_->parameters()) by_name[to_string(each.id)] = &each;
  static_cast<void>(write_published(
      folder, config_,
      {.dtype = DType::fp32, .carried = json::parse(config_text_, "small model").object()},
      [&](const model::PublishedPart& part, const Window& window, std::byte* out) {
        const ParameterTensors& own = *by_name.at(to_string(part.id));
        const bool mastered = own.master.data != nullptr;
        copy_window(mastered ? own.master : own.weight, part.size, window, DType::fp32, out);
      }));
}

LossAndGradients EngineRun::loss_and_gradients(data::DataPosition position) {
  Probe probe(dataset_, position);
  executor_->run_step(probe);
  return probe.found;
}

double EngineRun::log_probability(data::DataPosition position, std::int64_t place,
                                  data::TokenId target) {
  std::vector<data::TokenId> ids(static_cast<std::size_t>(kMicroBatch * kSeq));
  std::vector<data::TokenId> targets(ids.size());
  dataset_.fill(position, 0, ids, targets);
  targets.assign(ids.size(), data::kIgnoredTarget);
  targets[static_cast<std::size_t>(place)] = target;
  return -executor_->evaluate([&](const Tensor& to) { copy(ids, to); },
                              [&](const Tensor& to) { copy(targets, to); });
}

StepReport EngineRun::step(std::int64_t step, data::DataPosition position) {
  return step_->run(step, position, *executor_);
}

}  // namespace fourhold::engine::torch_oracle
