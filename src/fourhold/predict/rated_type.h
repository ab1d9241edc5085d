// Whose rate counts for products of a type.
#pragma once

#include <optional>

#include "fourhold/base/dtype.h"
#include "fourhold/hardware/device.h"

namespace fourhold::predict {

// The type's own, or, for a 16-bit type that the device has no rate for, that of the other one:
// whoever answers with it says so. No value: the device has neither.
[[nodiscard]] std::optional<DType> rated_type(const hardware::Device& device, DType compute);

}  // namespace fourhold::predict
