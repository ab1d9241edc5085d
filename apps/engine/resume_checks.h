// Whether a run can go on from where --resume says, as far as that can be told before its ranks are
// there.
#pragma once

#include <string>

#include "fourhold/api/train.h"
#include "fourhold/engine/train/train_run.h"

namespace fourhold::engine_app {

// Throws Error for --resume auto without a folder to look in.
void require_folder_of_auto(const api::TrainRequest& request);

// The log of a run that keeps something in `folder`, and whether there is one with lines.
[[nodiscard]] std::string log_of(const std::string& folder);
[[nodiscard]] bool holds_log(const std::string& folder);

// Throws Error where --out holds the log of a run that is not resumed.
void require_own_log(const api::TrainRequest& request);

// For who starts the ranks: throws the Error that all of them would end with, where --out holds
// another run, or the checkpoint of --resume is not there, is not whole by the sizes of its files,
// is of another model, precision or optimizer, or has done its steps. The data is the ranks' to
// read, and so are the checkpoint's bytes.
void require_resumable(const api::TrainRequest& request, const engine::TrainSetup& setup);

}  // namespace fourhold::engine_app
