// Why a published parameter total differs from the count of the language model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fourhold/api/params.h"
#include "fourhold/model/model_config.h"

namespace fourhold::api {

// Looks for the extras of the model whose elements add up to the difference exactly.
[[nodiscard]] PublishedTotal explain_published(std::int64_t published, std::int64_t counted,
                                               const std::vector<model::Extra>& extras);

// The sentence for people: how the two totals relate, and which to trust.
[[nodiscard]] std::string published_text(const PublishedTotal& published, std::int64_t counted);

}  // namespace fourhold::api
