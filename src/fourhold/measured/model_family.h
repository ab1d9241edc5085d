// Built-in models that other sizes of the same family are modelled on.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fourhold/measured/catalogue.h"
#include "fourhold/measured/measured_row.h"
#include "fourhold/model/model_config.h"

namespace fourhold::measured {

// Lower case, '_' and blanks as '-': "Qwen3 30B_A3B" is "qwen3-30b-a3b".
[[nodiscard]] std::string folded_model_name(std::string_view name);

// A built-in model of the row's family with the sizes of the row's columns; nothing where the name
// belongs to none. The row's sizes must be there.
[[nodiscard]] std::optional<model::ModelConfig> family_model(const MeasuredRow& row,
                                                             Catalogue& catalogue);

}  // namespace fourhold::measured
