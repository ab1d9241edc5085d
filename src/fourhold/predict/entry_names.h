// How tensors of a program are named in a ledger.
#pragma once

#include <string_view>

#include "fourhold/base/dims.h"
#include "fourhold/model/operations.h"

namespace fourhold::predict {

// "" for the plain variant.
[[nodiscard]] std::string_view variant_text(model::Variant variant);
// The sizes without what they count.
[[nodiscard]] Dims dims_of(const model::Shape& shape);

}  // namespace fourhold::predict
