// Engine types as safetensors spells them.
#pragma once

#include <optional>

#include "fourhold/base/dtype.h"
#include "fourhold/model/stored_type.h"

namespace fourhold::engine {

// No value for a type that safetensors does not name, or that state is not kept in.
[[nodiscard]] constexpr std::optional<model::StoredType> stored_type(DType dtype) {
  switch (dtype) {
    case DType::fp32:
      return model::StoredType::f32;
    case DType::bf16:
      return model::StoredType::bf16;
    case DType::fp16:
      return model::StoredType::f16;
    case DType::fp64:
      return model::StoredType::f64;
    case DType::int64:
      return model::StoredType::i64;
    case DType::int32:
      return model::StoredType::i32;
    case DType::int16:
      return model::StoredType::i16;
    case DType::int8:
      return model::StoredType::i8;
    case DType::uint8:
      return model::StoredType::u8;
    default:
      return std::nullopt;
  }
}

[[nodiscard]] constexpr std::optional<DType> engine_type(model::StoredType type) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (stored_type(static_cast<DType>(i)) == type) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace fourhold::engine
