#include "apps/engine/whole_checkpoint.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/engine/checkpoint/checkpoint_save.h"
#include "fourhold/engine/checkpoint/marker.h"

namespace fourhold::engine_app {

std::optional<engine::SavedCheckpoint> whole_checkpoint(const std::string& weights) {
  namespace fs = std::filesystem;
  if (auto saved = engine::own_checkpoint(weights, engine::Verify::contents)) return saved;
  std::error_code fault;
  const fs::path path(weights);
  const fs::path folder = fs::is_directory(path, fault) ? path : path.parent_path();
  if (fs::exists(folder / std::string(engine::kRunStateName), fault)) {
    throw Error(folder.empty() ? "." : folder.string(),
                fmt::format("has no {}: its save was not finished", engine::kMarkerName),
                fmt::format("use another checkpoint; weights known to be good are taken without "
                            "their {}",
                            engine::kRunStateName));
  }
  return std::nullopt;
}

}  // namespace fourhold::engine_app
