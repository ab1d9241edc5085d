// A small model trained on several ranks, as threads of this process, and on one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fourhold/engine/communicator/collectives.h"
#include "fourhold/engine/communicator/communicator.h"
#include "fourhold/engine/data/dataset.h"
#include "fourhold/engine/train/step.h"
#include "fourhold/model/model_config.h"
#include "fourhold/model/numerics.h"
#include "fourhold/plan/plan.h"
#include "fourhold/plan/profile.h"

namespace fourhold::engine::testing {

enum class SmallModel : std::uint8_t {
  gpt2,   // learned positions, biases, a tied table whose rows no tp divides
  llama,  // grouped heads, a head of its own
  qwen3,  // norms of q and k, a tied table
};

// A step takes many times as long under the thread sanitizer, and a race shows in the first ones.
#if defined(__SANITIZE_THREAD__)
inline constexpr std::int64_t kSteps = 4;
#else
inline constexpr std::int64_t kSteps = 20;
#endif

struct SplitSetup {
  std::string config_text;
  model::ModelConfig config;
  model::Numerics numerics;
  plan::Profile profile;
  plan::Plan plan;
  StepOptions options;
  std::int64_t steps = kSteps;
  // Watched runs stand guards around every entry, so that entries lie elsewhere than predicted.
  Watch watch = Watch::on;
};

// Four layers; `plan` states the split and what else differs from the default: micro-batches of
// one sequence of 16 tokens, fp32, portable kernels. Sizes that follow from others are filled in.
[[nodiscard]] SplitSetup split_setup(SmallModel model, plan::Plan plan,
                                     plan::Precision precision = plan::Precision::fp32);
// The same batch on one rank.
[[nodiscard]] SplitSetup on_one_rank(const SplitSetup& split);

struct SplitOutcome {
  std::vector<double> losses;
  std::vector<double> norms;
  // Whole parameters by name, from the ranks' parts; replicas were the same bit for bit.
  std::map<std::string, std::vector<double>> weights;
  // Of each rank's losses and held weights, bit for bit.
  std::map<std::int64_t, std::uint64_t> digests;
  // By name, the optimizer's moments of whole parameters; of SGD the first alone.
  std::map<std::string, std::vector<double>> moments1;
  std::map<std::string, std::vector<double>> moments2;
  // Of each rank, by kind of collective: what it was to send in all steps.
  std::map<std::int64_t, std::array<std::int64_t, Traffic::kKinds>> predicted_bytes;
  // One line for each fault: entries that differ from the prediction on a rank (unless watched also
  // the arena's size), traffic of a rank that is not what was predicted for it in bytes or steps of
  // any kind of collective, replicas that are not equal.
  std::vector<std::string> faults;
};

// The body of one rank; ranks of one run share `outcome`, which it locks.
class SplitRanks {
 public:
  SplitRanks(const SplitSetup& setup, const data::Dataset& dataset);
  // `communicator` is null on the only rank.
  void run_rank(std::int64_t rank, Communicator* communicator);
  // Once all ranks have run here. Of a single rank of several, run_rank's own results alone.
  [[nodiscard]] SplitOutcome take();
  [[nodiscard]] const SplitOutcome& own() const;

 private:
  struct Shared;
  const SplitSetup& setup_;
  const data::Dataset& dataset_;
  std::shared_ptr<Shared> shared_;
};

// Whole parameters before the first step.
[[nodiscard]] std::map<std::string, std::vector<double>> first_weights(
    const SplitSetup& setup, const data::Dataset& dataset);

// Trains on threads of this process.
[[nodiscard]] SplitOutcome train_split(const SplitSetup& setup, const data::Dataset& dataset);

}  // namespace fourhold::engine::testing
