#include "fourhold/model/inner_folder.h"

#include <system_error>

namespace fourhold::model {

std::optional<std::string> last_folder_with(
    const std::string& folder, const std::function<bool(const std::filesystem::path&)>& holds) {
  namespace fs = std::filesystem;
  std::optional<std::string> last;
  std::error_code fault;
  fs::directory_iterator entry(folder, fault);
  for (; !fault && entry != fs::directory_iterator(); entry.increment(fault)) {
    std::error_code ignored;
    const std::string path = entry->path().string();
    // What begins with a dot is hidden, or a save that was not finished.
    if (entry->path().filename().string().front() == '.') continue;
    if (!entry->is_directory(ignored) || !holds(entry->path())) continue;
    if (!last || path > *last) last = path;
  }
  return last;
}

}  // namespace fourhold::model
