// Reads a published Hugging Face config.json into a ModelConfig.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fourhold/model/model_config.h"

namespace fourhold::model {

// `text` is the file's contents; `name` becomes ModelConfig::name. The language model is read, also
// from the text_config of a multimodal file; what else the checkpoint holds stands in `extras`,
// what was assumed in `notes`.
//
// Errors name the field's path ("text_config.num_hidden_layers"): wrong kinds, values out of range,
// fields that contradict each other, and model types whose parameters are not known here.
[[nodiscard]] ModelConfig read_hf_config(std::string_view text, const std::string& name);

// The model types with a reader of their own, sorted.
[[nodiscard]] std::vector<std::string_view> supported_model_types();

}  // namespace fourhold::model
