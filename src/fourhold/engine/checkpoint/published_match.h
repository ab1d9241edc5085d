// Which stored tensor is which tensor of the model: names only, no values but those of twins.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "fourhold/engine/checkpoint/safetensors_reader.h"
#include "fourhold/model/model_config.h"
#include "fourhold/model/published_tensors.h"

namespace fourhold::engine {

struct PublishedMatch {
  std::vector<const StoredBytes*> stored;  // of each wanted tensor, never null
  std::vector<std::string> notes;
};

// Error naming every tensor that is missing, every parameter that the model has no place for, or
// the first pair of copies that differ.
[[nodiscard]] PublishedMatch match_published(const std::vector<model::PublishedTensor>& wanted,
                                             std::span<const StoredBytes> stored,
                                             const model::ModelConfig& config,
                                             const std::string& where);

}  // namespace fourhold::engine
