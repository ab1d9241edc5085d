#include "fourhold/predict/rated_type.h"

namespace fourhold::predict {

std::optional<DType> rated_type(const hardware::Device& device, DType compute) {
  const auto has_rate = [&device](DType type) { return hardware::peak_flops(device, type) > 0; };
  if (has_rate(compute)) return compute;
  if (compute == DType::bf16 && has_rate(DType::fp16)) return DType::fp16;
  if (compute == DType::fp16 && has_rate(DType::bf16)) return DType::bf16;
  return std::nullopt;
}

}  // namespace fourhold::predict
