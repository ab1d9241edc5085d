// Rows whose linear layers multiply in fp8 (or fp4, at no other rate here).
#pragma once

#include "fourhold/hardware/device.h"

namespace fourhold::measured {

// Makes the device's 16-bit peak that of its fp8 products, and attention's shares such that
// attention keeps its 16-bit rate. False, and nothing changed, where the device has no fp8.
bool multiply_in_fp8(hardware::Device& device);

}  // namespace fourhold::measured
