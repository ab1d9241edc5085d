#include "fourhold/model/catalogue.h"

#include <algorithm>

namespace fourhold::model {

std::vector<std::string_view> catalogue_names() {
  std::vector<std::string_view> names;
  for (const EmbeddedFile& file : embedded_models()) names.push_back(file.name);
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string_view> catalogue_text(std::string_view name) {
  for (const EmbeddedFile& file : embedded_models()) {
    if (file.name == name) return file.text;
  }
  return std::nullopt;
}

}  // namespace fourhold::model
