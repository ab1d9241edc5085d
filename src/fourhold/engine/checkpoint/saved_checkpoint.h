// Finds and opens checkpoints that checkpoint_save.h has written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/engine/checkpoint/marker.h"
#include "fourhold/engine/checkpoint/run_state.h"
#include "fourhold/model/model_config.h"

namespace fourhold::engine {

enum class Verify : std::uint8_t {
  sizes,    // every listed file is there with its size
  contents  // and every byte is as it was saved: reads all
};

// A complete checkpoint. Its weights open with WeightFiles(path), its optimizer state with
// StateFiles(path).
struct SavedCheckpoint {
  std::string path;
  Marker marker;
  RunState run;
  model::ModelConfig model;  // of its config.json
};

// Error for what is no folder, a folder without a marker (of a run: naming its newest checkpoint),
// with a marker of something else, or with a file that is missing, cut short or changed (with the
// byte's offset).
[[nodiscard]] SavedCheckpoint open_checkpoint(const std::string& path, Verify verify);

// The checkpoint that weights are part of, whether its folder or one file in it is named: weights
// of ours are opened by nothing else, so that none is read unchecked. No value for weights that are
// not of ours, which have neither marker nor run state beside them. Errors are open_checkpoint's,
// and a run state without a marker is one: a save that was not finished.
[[nodiscard]] std::optional<SavedCheckpoint> own_checkpoint(const std::string& weights,
                                                            Verify verify);

// Whether the folder has a marker whose files are there as `verify` asks.
[[nodiscard]] bool is_complete(const std::string& path, Verify verify = Verify::sizes);

struct Latest {
  std::optional<std::string> path;    // none: there is no complete checkpoint
  std::vector<std::string> skipped;   // newer ones that are not whole, and why, as sentences
  std::vector<std::int64_t> damaged;  // their steps
};
// The whole checkpoint of the highest step in a folder, which need not exist.
[[nodiscard]] Latest latest_checkpoint(const std::string& folder, Verify verify = Verify::contents);

}  // namespace fourhold::engine
