// A run that trains nothing but moves every weight each step, so that a state tells its step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/engine/checkpoint/checkpoint_save.h"
#include "fourhold/engine/checkpoint/published_reader.h"
#include "fourhold/engine/checkpoint/saved_checkpoint.h"
#include "fourhold/engine/checkpoint/state_files.h"
#include "tests/engine/checkpoint/tiny_models.h"

namespace fourhold::engine {

class SmallRun {
 public:
  explicit SmallRun(model::ModelConfig config = tiny_gpt2()) : config_(std::move(config)) {
    for (const model::PublishedPart& part : parts_of(config_)) {
      State& state = states_[to_string(part.id)];
      state.weight.assign(static_cast<std::size_t>(part.size.elements()), 0.5F);
      state.moment.assign(state.weight.size(), 0.0F);
    }
  }

  [[nodiscard]] std::int64_t step() const { return step_; }

  // Rounds in every step: only the same bits give the same bits.
  void train() {
    ++step_;
    float gradient = static_cast<float>(step_) / 3.0F;
    for (auto& [name, state] : states_) {
      for (std::size_t i = 0; i < state.weight.size(); ++i) {
        gradient = gradient * 0.9F + 0.1F * state.weight[i];
        state.moment[i] = 0.9F * state.moment[i] + 0.1F * gradient;
        state.weight[i] -= 0.01F * state.moment[i];
      }
    }
    losses_.push_back(gradient);
    if (losses_.size() > 4) losses_.erase(losses_.begin());
  }

  void save(const std::string& folder, std::optional<int> keep_last = std::nullopt) {
    CheckpointSave save(folder, step_);
    write(save);
    save.publish(keep_last);
  }
  // All that comes before the checkpoint is published.
  void write(CheckpointSave& save) {
    save.write_model(
        config_, {DType::fp32, 2000},
        [this](const model::PublishedPart& part, const Window& window, std::byte* out) {
          copy_window(view(states_.at(to_string(part.id)).weight), part.size, window, DType::fp32,
                      out);
        });
    std::vector<StateTensor> tensors;
    for (const model::PublishedPart& part : parts_of(config_)) {
      const std::int64_t all = part.size.elements();
      tensors.push_back({"moment1",
                         part.id,
                         {all},
                         contiguous(0, all),
                         view(states_.at(to_string(part.id)).moment)});
    }
    save.write_optimizer(tensors);
    RunState run;
    run.step = step_;
    run.precision = "fp32";
    run.optimizer = "sgd";
    run.losses = losses_;
    save.write_run(run);
    save.close();
  }

  void load(const std::string& path) {
    const SavedCheckpoint saved = open_checkpoint(path, Verify::contents);
    check_resumable(saved.run, saved.model, {config_, "fp32", "sgd", saved.run.data}, path);
    const WeightFiles files(path);
    const PublishedWeights weights(files.tensors(), config_, path);
    const StateFiles state(path);
    for (const model::PublishedPart& part : parts_of(config_)) {
      State& mine = states_.at(to_string(part.id));
      weights.read(part.id, view(mine.weight));
      state.read("moment1", part.id, {part.size.elements()}, contiguous(0, part.size.elements()),
                 view(mine.moment));
    }
    step_ = saved.run.step;
    losses_ = saved.run.losses;
  }

  friend bool operator==(const SmallRun& a, const SmallRun& b) {
    if (a.step_ != b.step_ || a.losses_ != b.losses_) return false;
    for (const auto& [name, state] : a.states_) {
      if (!same_bits(state.weight, b.states_.at(name).weight)) return false;
      if (!same_bits(state.moment, b.states_.at(name).moment)) return false;
    }
    return true;
  }

 private:
  struct State {
    std::vector<float> weight;
    std::vector<float> moment;
  };
  static Tensor view(std::vector<float>& values) {
    return {reinterpret_cast<std::byte*>(values.data()),
            DType::fp32,
            {static_cast<std::int64_t>(values.size())}};
  }
  static bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
  }
  model::ModelConfig config_;
  std::map<std::string, State> states_;
  std::int64_t step_ = 0;
  std::vector<double> losses_;
};

}  // namespace fourhold::engine
