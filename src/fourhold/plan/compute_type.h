// The type of a plan's products.
#pragma once

#include "fourhold/base/dtype.h"
#include "fourhold/plan/plan.h"

namespace fourhold::plan {

[[nodiscard]] constexpr DType compute_type(Precision precision) {
  if (precision == Precision::fp32) return DType::fp32;
  return precision == Precision::fp16 ? DType::fp16 : DType::bf16;
}

}  // namespace fourhold::plan
