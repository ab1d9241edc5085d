// How tensors of a program are named in a ledger.
#pragma once

#include <cstdint>
#include <string_view>

#include "fourhold/base/dims.h"
#include "fourhold/model/operations.h"

namespace fourhold::predict {

// "" for the plain variant.
[[nodiscard]] std::string_view variant_text(model::Variant variant);
// The layer in the key of what stands in a block of that layer: its own of multi-token prediction.
[[nodiscard]] constexpr std::int32_t layer_in_key(std::int32_t own, std::int32_t of_block) {
  return own == model::kOfBlock ? of_block : own;
}
// The sizes without what they count.
[[nodiscard]] Dims dims_of(const model::Shape& shape);

}  // namespace fourhold::predict
