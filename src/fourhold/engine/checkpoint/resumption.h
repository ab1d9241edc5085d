// Which checkpoint a run goes on from, and whether it may save into the folder it was given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/engine/checkpoint/saved_checkpoint.h"

namespace fourhold::engine {

struct Resumption {
  std::optional<SavedCheckpoint> checkpoint;  // as far as was asked; none: a new run
  std::vector<std::string> notes;             // what was stepped over, and why
  std::vector<std::int64_t> damaged;          // steps that were
};

// `resume` is "auto" (the newest whole checkpoint in `folder`), a checkpoint's folder, or empty.
// `folder` is where the run saves; empty for nowhere.
//
// Error where a named checkpoint is not whole; where "auto" finds finished ones that are all
// damaged; where `folder` holds checkpoints of another run, or later ones than the one that is
// resumed, which would stand in the way of what this run saves.
//
// Verify::sizes is for those who ask before a run does, which then reads every byte.
[[nodiscard]] Resumption find_resumption(const std::string& folder, const std::string& resume,
                                         Verify verify = Verify::contents);

}  // namespace fourhold::engine
