// Where a folder of runs or checkpoints is named and one of the folders in it was meant.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace fourhold::model {

// The last by name of the folders in `folder` for which `holds` says yes: of step-00000100 and
// step-00000200 the newer one. No value where there is none, or `folder` cannot be read.
[[nodiscard]] std::optional<std::string> last_folder_with(
    const std::string& folder, const std::function<bool(const std::filesystem::path&)>& holds);

}  // namespace fourhold::model
