// Fields that change a model's arithmetic and that its class does not have: transformers leaves
// them out, and so do counts and kernels here.
#pragma once

#include "fourhold/model/hf_reading.h"

namespace fourhold::model {

// Notes those of the file that are set to something, for the families that the engine computes.
// Call it when all is read.
void note_ignored(Reading& reading, std::string_view model_type);

}  // namespace fourhold::model
