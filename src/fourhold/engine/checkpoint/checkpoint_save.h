// Saves a checkpoint so that at every moment the newest complete one on the disk is whole.
//
// Files are written into .step-00000100.partial/ and synced one by one; the folder is synced,
// renamed to step-00000100/, its parent synced, and the marker written last. What a killed save
// left behind is removed by the next one.
//
// With several ranks each makes a CheckpointSave: rank 0 first; after a barrier the others; each
// writes its files and closes; after a barrier rank 0 publishes. All see one file system.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/engine/checkpoint/file_sum.h"
#include "fourhold/engine/checkpoint/published_writer.h"
#include "fourhold/engine/checkpoint/run_state.h"
#include "fourhold/engine/checkpoint/state_files.h"
#include "fourhold/model/model_config.h"

namespace fourhold::engine {

inline constexpr std::string_view kRunStateName = "run.json";

class CheckpointSave {
 public:
  // Rank 0 makes `folder` if need be, removes leftovers and creates the partial folder. Error when
  // this step is saved there already, and when the folder cannot be made.
  CheckpointSave(std::string folder, std::int64_t step, RankOf who = {});
  // Unless complete, rank 0 removes what was written: a full disk must not stay full.
  ~CheckpointSave();
  CheckpointSave(const CheckpointSave&) = delete;
  CheckpointSave& operator=(const CheckpointSave&) = delete;

  // Rank 0 only: the model, and where the run stands. Errors as write_published, write_run_state.
  void write_model(const model::ModelConfig& config, const WeightsFormat& format,
                   const WeightSource& source);
  void write_run(const RunState& state);
  // Each rank, once.
  void write_optimizer(std::span<const StateTensor> tensors);

  // Each rank: all its files are on the disk and listed.
  void close();
  // Rank 0: makes the checkpoint complete, then deletes the oldest complete ones beyond the newest
  // `keep_last` (no value keeps all). Error when a rank has not closed.
  void publish(std::optional<int> keep_last = std::nullopt);

  // The finished checkpoint's folder.
  [[nodiscard]] std::string path() const;

 private:
  [[nodiscard]] std::vector<FileSum> take_rank_lists() const;

  std::string folder_;
  std::int64_t step_ = 0;
  RankOf who_;
  std::string at_;  // the folder it stands in: partial, then renamed
  std::vector<FileSum> files_;
  bool complete_ = false;
};

}  // namespace fourhold::engine
