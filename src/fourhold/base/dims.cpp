#include "fourhold/base/dims.h"

#include <string>

namespace fourhold {

std::string to_string(const Dims& dims) {
  std::string text = "[";
  for (const std::int64_t size : dims) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(size);
  }
  return text + "]";
}

}  // namespace fourhold
