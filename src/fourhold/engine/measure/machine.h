// This machine as a device file, so that time can be predicted on it.
#pragma once

#include <span>
#include <string>

#include "fourhold/base/dtype.h"
#include "fourhold/base/units.h"
#include "fourhold/engine/kernels/execution.h"
#include "fourhold/engine/measure/timing.h"
#include "fourhold/hardware/device.h"

namespace fourhold::engine {

struct MachineFacts {
  std::string processor;  // as the system names it
  Bytes usable;           // what a run can have
};

// Measures with the threads and instructions of `execution`; `computes` are fp32, bf16 or both.
// A type's peak is its fastest product, so that MFU is of what this machine was seen to do; the
// memory's bandwidth is that of a stream, of which `memory` is all.
// Quick takes less than a second for each type, thorough less than half a minute in all.
[[nodiscard]] hardware::Device measure_machine(const MachineFacts& facts,
                                               std::span<const DType> computes,
                                               const Execution& execution, Effort effort);

}  // namespace fourhold::engine
