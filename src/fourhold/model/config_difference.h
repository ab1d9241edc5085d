// What two models differ in, in words: a run resumes with the model it was saved with.
#pragma once

#include <string>
#include <vector>

#include "fourhold/model/model_config.h"

namespace fourhold::model {

// One line per field that differs ("hidden is 768, here 1024"; "layer 3: attention.heads is 12,
// here 16"), the saved value first; empty when both describe the same computation. Where they were
// read from, what else their repositories hold and notes do not count.
[[nodiscard]] std::vector<std::string> config_differences(const ModelConfig& saved,
                                                          const ModelConfig& here);

}  // namespace fourhold::model
