#include "fourhold/hardware/device.h"

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"

namespace fourhold::hardware {

std::string_view Device::source_of(std::string_view field) const {
  for (const auto& [sourced, source] : sources) {
    if (sourced == field) return source;
  }
  return {};
}

double peak_flops(const Device& device, DType dtype) {
  switch (dtype) {
    case DType::fp32:
      return device.peak_flops.fp32;
    case DType::bf16:
      return device.peak_flops.bf16;
    case DType::fp16:
      return device.peak_flops.fp16;
    case DType::fp8:
      return device.peak_flops.fp8;
    case DType::fp64:
    case DType::int64:
    case DType::int32:
    case DType::int16:
    case DType::int8:
    case DType::uint8:
    case DType::boolean:
    case DType::nf4:
      return 0;  // nothing trains in these
  }
  return 0;
}

Device memory_only_device(Bytes usable) {
  if (usable > kMostBytes) {
    throw Error(
        "memory",
        fmt::format("of {} is more than {}", format_bytes(usable), format_bytes(kMostBytes)),
        "give what one device has, for example 80GB");
  }
  Device device;
  device.name = fmt::format("memory of {}", format_bytes(usable));
  device.usable = usable;
  device.nominal_gb = usable.count() / 1'000'000'000;
  device.sources.emplace_back("usable_bytes", "given by the user");
  return device;
}

}  // namespace fourhold::hardware
