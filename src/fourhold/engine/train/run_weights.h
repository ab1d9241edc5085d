// Where a run's weights come from and go to: random, published, or a checkpoint. Every rank fills
// and saves its own part; nothing is gathered. Padding is zeroed, and never stored.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fourhold/base/json.h"
#include "fourhold/engine/checkpoint/checkpoint_save.h"
#include "fourhold/engine/checkpoint/published_reader.h"
#include "fourhold/engine/checkpoint/run_state.h"
#include "fourhold/engine/executor/executor.h"
#include "fourhold/model/model_config.h"
#include "fourhold/plan/recipe.h"

namespace fourhold::engine {

using Parameters = std::span<const ParameterTensors>;

struct RandomStart {
  double deviation = 0.02;
  std::uint64_t seed = 0;
  plan::Precision precision = plan::Precision::bf16;
  int threads = 1;  // the weights do not depend on it
};

// Weights as the family initialises them, moments zero.
void start_random(Parameters parameters, const model::ModelConfig& config,
                  const RandomStart& start);

// Weights of a published folder or file, moments zero. Throws Error as PublishedWeights, and where
// a weight is not finite or does not fit the type it is trained in.
void start_published(Parameters parameters, const PublishedWeights& weights,
                     plan::Precision precision);

// Weights, master copies and moments of a checkpoint, bit for bit.
void start_checkpoint(Parameters parameters, const PublishedWeights& weights,
                      const StateFiles& state);

// What a checkpoint holds beside its tensors' values.
struct CheckpointFacts {
  const model::ModelConfig& config;
  const json::Object& carried;  // members of the model's config.json
  const RunState& run;
  DType weights = DType::bf16;  // the type they are trained in, so that resuming is exact
  std::int64_t max_shard_bytes = WeightsFormat{}.max_shard_bytes;
};

// Where a checkpoint goes, and who else writes to it.
struct SaveTarget {
  std::string folder;  // which all ranks see
  int keep = 2;        // complete checkpoints
  // Steps there whose bytes are not those that were saved: they do not count, and stay.
  std::vector<std::int64_t> damaged{};
  RankOf who{};
  // Returns when all ranks have called it. It must throw where one of them has failed.
  std::function<void()> barrier = [] {};
};
// Called by all ranks: writes a complete checkpoint and deletes older ones; its path. Throws Error
// where the disk does not take it or a rank does not see the folder; the checkpoints before are
// whole.
std::string save_checkpoint(const SaveTarget& target, std::int64_t step, Parameters parameters,
                            const CheckpointFacts& facts);

}  // namespace fourhold::engine
