#include "apps/engine/step_lines.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>

#include "apps/shell/output.h"
#include "fourhold/base/error.h"
#include "fourhold/base/json.h"

namespace fourhold::engine_app {
namespace {

std::optional<std::int64_t> step_of_line(const std::string& line) {
  try {
    const json::Value value = json::parse(line, "");
    const json::Value* step = value.is_object() ? value.find("step") : nullptr;
    if (step == nullptr || !step->is_integer()) return std::nullopt;
    return step->integer();
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::int64_t cut_steps_from(const std::string& path, std::int64_t first) {
  std::ifstream file(path, std::ios::binary);
  std::string kept;
  std::int64_t cut = 0;
  std::string line;
  while (std::getline(file, line)) {
    const bool finished = !file.eof();
    const std::optional<std::int64_t> step = step_of_line(line);
    if (finished && (!step || *step < first)) {
      kept += line + "\n";
    } else {
      ++cut;
    }
  }
  if (!file.eof()) {
    throw Error(path, std::string("cannot be read: ") + std::strerror(errno),
                "it is the log of the run that is resumed: move it away, or check the disk");
  }
  if (cut > 0) shell::write_file(path, kept);
  return cut;
}

}  // namespace fourhold::engine_app
