// The one door through which a name or a path becomes a ModelConfig.
#pragma once

#include <string>

#include "fourhold/model/model_config.h"

namespace fourhold::model {

// A built-in name, a config.json, or a folder, safetensors file or index that has a config.json
// beside it. A built-in name wins over a file of the same name; "./gpt2" means the file.
// Errors: an unknown name with near matches, a path that does not exist, weights without a config
// (they can be counted, not planned with), and whatever read_hf_config refuses.
[[nodiscard]] ModelConfig load_model(const std::string& name_or_path);

// The config.json that load_model reads, and the name Errors call it by.
struct ConfigText {
  std::string text;
  std::string name;
};
[[nodiscard]] ConfigText load_config_text(const std::string& name_or_path);

}  // namespace fourhold::model
