// Element types as safetensors files name them; wider than what training computes in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fourhold::model {

enum class StoredType : std::uint8_t {
  boolean,
  f4,
  f6_e2m3,
  f6_e3m2,
  u8,
  i8,
  f8_e5m2,
  f8_e4m3,
  f8_e8m0,
  f8_e4m3fnuz,
  f8_e5m2fnuz,
  i16,
  u16,
  f16,
  bf16,
  i32,
  u32,
  f32,
  c64,
  f64,
  i64,
  u64
};
inline constexpr int kStoredTypeCount = 22;

struct StoredTypeInfo {
  std::string_view name;  // spelled as in the file
  int bits;               // of one element; below 8, elements are packed
};

// In the order of the enum.
inline constexpr std::array<StoredTypeInfo, kStoredTypeCount> kStoredTypes{
    {{"BOOL", 8},        {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
     {"I8", 8},          {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
     {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
     {"I32", 32},        {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},
     {"I64", 64},        {"U64", 64}}};

[[nodiscard]] constexpr const StoredTypeInfo& info(StoredType type) {
  return kStoredTypes[static_cast<std::size_t>(type)];
}
[[nodiscard]] constexpr std::string_view to_string(StoredType type) { return info(type).name; }

// The type of that exact spelling.
[[nodiscard]] std::optional<StoredType> find_stored_type(std::string_view name);
// "BOOL, F4, ... U64", for error texts.
[[nodiscard]] std::string stored_type_names();

// One-byte floating-point weights (not the scale type F8_E8M0).
[[nodiscard]] constexpr bool is_fp8(StoredType type) {
  return type == StoredType::f8_e5m2 || type == StoredType::f8_e4m3 ||
         type == StoredType::f8_e4m3fnuz || type == StoredType::f8_e5m2fnuz;
}

}  // namespace fourhold::model
