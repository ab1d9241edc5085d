// What this build is: a figure without it cannot be repeated.
#pragma once

#include <string_view>

namespace fourhold {

struct BuildInfo {
  std::string_view version;     // "0.1.0"
  std::string_view commit;      // short hash, or "unknown" outside a clone
  std::string_view compiler;    // "GNU 12.2.0"
  std::string_view build_type;  // "Release"
};

[[nodiscard]] BuildInfo build_info();

}  // namespace fourhold
