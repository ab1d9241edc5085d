// Element types of tensors and their sizes in bits (sub-byte types exist in checkpoints).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace fourhold {

enum class DType : std::uint8_t {
  fp32,
  bf16,
  fp16,
  fp64,
  fp8,
  int64,
  int32,
  int16,
  int8,
  uint8,
  boolean,
  nf4
};
inline constexpr int kDTypeCount = 12;

struct DTypeInfo {
  std::string_view name;
  int bits;
};

// In the order of the enum.
inline constexpr std::array<DTypeInfo, kDTypeCount> kDTypes{{{"fp32", 32},
                                                             {"bf16", 16},
                                                             {"fp16", 16},
                                                             {"fp64", 64},
                                                             {"fp8", 8},
                                                             {"int64", 64},
                                                             {"int32", 32},
                                                             {"int16", 16},
                                                             {"int8", 8},
                                                             {"uint8", 8},
                                                             {"bool", 8},
                                                             {"nf4", 4}}};

[[nodiscard]] constexpr const DTypeInfo& info(DType dtype) {
  return kDTypes[static_cast<std::size_t>(dtype)];
}
[[nodiscard]] constexpr std::string_view to_string(DType dtype) { return info(dtype).name; }

// Bytes of `elements` values, rounded up to a whole byte.
[[nodiscard]] constexpr std::int64_t bytes_of(std::int64_t elements, DType dtype) {
  const int bits = info(dtype).bits;
  return bits >= 8 ? elements * (bits / 8) : (elements * bits + 7) / 8;
}

}  // namespace fourhold
