// What readers and writers know of one field of a struct: the struct's list of fields
// (plan_fields.h, profile_fields.h) states it once, and JSON, flags, help and equality all come
// from there.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "fourhold/base/field_reader.h"

namespace fourhold::plan {

struct FieldInfo {
  std::string_view name;     // in JSON; the flag writes '-' for '_'
  std::string_view help;     // one line
  IntegerRange range = {};   // of an integer, or of each integer of a list
  NumberRange numbers = {};  // of a floating-point number
};

// The names of an enum's values in its order, specialised beside the list that uses the enum.
template <class Enum>
inline constexpr std::span<const std::string_view> kEnumNames;

}  // namespace fourhold::plan
