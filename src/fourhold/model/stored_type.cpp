#include "fourhold/model/stored_type.h"

namespace fourhold::model {

std::optional<StoredType> find_stored_type(std::string_view name) {
  for (std::size_t i = 0; i < kStoredTypes.size(); ++i) {
    if (kStoredTypes[i].name == name) return static_cast<StoredType>(i);
  }
  return std::nullopt;
}

std::string stored_type_names() {
  std::string names;
  for (const StoredTypeInfo& type : kStoredTypes) {
    if (!names.empty()) names += ", ";
    names += type.name;
  }
  return names;
}

}  // namespace fourhold::model
