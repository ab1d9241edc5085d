// Whether a run can go on from where --resume says, as far as that can be told before its ranks are
// there.
#pragma once

#include "fourhold/api/train.h"
#include "fourhold/model/model_config.h"
#include "fourhold/plan/plan.h"

namespace fourhold::engine_app {

// Throws Error for --resume auto without a folder to look in.
void require_folder_of_auto(const api::TrainRequest& request);

// For who starts the ranks: throws the Error that all of them would end with, where the checkpoint
// is not there, is not whole by the sizes of its files, or is of another model, precision or
// optimizer. The data is the ranks' to read, and so are the checkpoint's bytes.
void require_resumable(const api::TrainRequest& request, const model::ModelConfig& model,
                       const plan::Plan& plan);

}  // namespace fourhold::engine_app
