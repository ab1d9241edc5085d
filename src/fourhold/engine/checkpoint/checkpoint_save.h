// Saves a checkpoint so that at every moment the newest complete one on the disk is whole.
//
// Files are written into .step-00000100.partial/ and synced one by one; the folder is synced,
// renamed to step-00000100/, its parent synced, and the marker written last. What a killed save
// left behind is removed by the next one.
//
// With several ranks each makes a CheckpointSave, and all see one file system. Rank 0 makes its own
// first and creates the model's files; after a barrier the others; each writes what it owns; after
// a barrier each sums its blocks and closes; after a barrier rank 0 publishes (run_weights.cpp).
// A rank that fails in between never closes, and nothing is published.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/engine/checkpoint/published_layout.h"
#include "fourhold/engine/checkpoint/published_writer.h"
#include "fourhold/engine/checkpoint/rank_list.h"
#include "fourhold/engine/checkpoint/run_state.h"
#include "fourhold/engine/checkpoint/save_lock.h"
#include "fourhold/engine/checkpoint/shared_weights.h"
#include "fourhold/engine/checkpoint/state_files.h"
#include "fourhold/model/model_config.h"

namespace fourhold::engine {

inline constexpr std::string_view kRunStateName = "run.json";

class CheckpointSave {
 public:
  // Rank 0 makes `folder` if need be, removes leftovers and creates the partial folder. Error when
  // this step is saved there already or by another run at this moment, when the folder cannot be
  // made, and on another rank when it does not see rank 0's folder.
  CheckpointSave(std::string folder, std::int64_t step, RankOf who = {});
  // Unless complete, rank 0 removes what was written: a full disk must not stay full.
  ~CheckpointSave();
  CheckpointSave(const CheckpointSave&) = delete;
  CheckpointSave& operator=(const CheckpointSave&) = delete;

  // Rank 0 only: where the run stands. Errors as write_run_state.
  void write_run(const RunState& state);
  // The model by a rank that is alone and holds all of it. Errors as write_published.
  void write_model(const model::ModelConfig& config, const WeightsFormat& format,
                   const WeightSource& source);
  // The model by all ranks, each with the same config and format: lay_out first (rank 0 creates the
  // files), then what the rank owns, then its share of the sums. Errors as shared_weights.h.
  void lay_out_model(const model::ModelConfig& config, const WeightsFormat& format);
  void write_weights(std::span<const OwnedWeight> weights);
  void sum_weights();
  // Each rank, once.
  void write_optimizer(std::span<const StateTensor> tensors);

  // Each rank: all its files are on the disk and listed.
  void close();
  // Rank 0: makes the checkpoint complete, then deletes the oldest complete ones beyond the newest
  // `keep_last` (no value keeps all); steps that are `damaged` neither count nor go. Error when a
  // rank has not closed.
  void publish(std::optional<int> keep_last = std::nullopt,
               std::span<const std::int64_t> damaged = {});

  // The finished checkpoint's folder.
  [[nodiscard]] std::string path() const;

 private:
  void make_folder();
  void add(std::vector<FileSum> files);
  [[nodiscard]] std::vector<FileSum> take_rank_lists() const;

  std::string folder_;
  std::int64_t step_ = 0;
  RankOf who_;
  std::string at_;                         // the folder it stands in: partial, then renamed
  std::optional<SaveLock> lock_;           // rank 0
  std::optional<PublishedLayout> layout_;  // of a model that all ranks write
  RankList list_;
  bool complete_ = false;
};

}  // namespace fourhold::engine
