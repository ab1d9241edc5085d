// `architectures`: the class a config.json was written for, a second name of its model type.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fourhold/model/hf_reading.h"

namespace fourhold::model {

// The model type its first class stands for ("Qwen3MoeForCausalLM" -> "qwen3_moe" where a family of
// that name is known, else the name without its suffix); no value when it is absent or empty. Error
// unless it is a list of names.
[[nodiscard]] std::optional<std::string> type_of_architecture(FieldReader& fields);

// A note where the class belongs to a family that counts otherwise than `model_type`, which is
// followed; also where only the class is known.
void note_architecture(Reading& reading, std::string_view model_type);

}  // namespace fourhold::model
