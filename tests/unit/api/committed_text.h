// A generated text that the project keeps: what is committed must be what the program prints.
#pragma once

#include <string>

#include "fourhold/base/text_file.h"

namespace fourhold::api {

inline std::string committed_text(const std::string& path) {
  return read_text_file(std::string(FOURHOLD_SOURCE_DIR) + "/" + path, std::int64_t{1} << 24);
}

}  // namespace fourhold::api
