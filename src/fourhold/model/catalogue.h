// The built-in models: published configs compiled into the program.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "fourhold/base/embedded.h"

namespace fourhold::model {

// data/models/*.json, in no promised order; a generated source defines it.
[[nodiscard]] std::span<const EmbeddedFile> embedded_models();

// The names of the built-in models, sorted ("llama-3.1-8b").
[[nodiscard]] std::vector<std::string_view> catalogue_names();

// The config.json text of a built-in model; no value for another name.
[[nodiscard]] std::optional<std::string_view> catalogue_text(std::string_view name);

}  // namespace fourhold::model
