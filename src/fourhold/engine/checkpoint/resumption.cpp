#include "fourhold/engine/checkpoint/resumption.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/engine/checkpoint/checkpoint_names.h"
#include "fourhold/engine/checkpoint/marker.h"

namespace fourhold::engine {
namespace {

namespace fs = std::filesystem;

bool has_marker(const fs::path& checkpoint) {
  std::error_code fault;
  return fs::exists(checkpoint / std::string(kMarkerName), fault);
}

Resumption newest_in(const std::string& folder, Verify verify) {
  Latest latest = latest_checkpoint(folder, verify);
  Resumption found;
  found.notes = std::move(latest.skipped);
  found.damaged = std::move(latest.damaged);
  if (latest.path) {
    found.checkpoint = open_checkpoint(*latest.path, Verify::sizes);  // its files were just checked
    return found;
  }
  // A run that was stopped in its first save starts anew; one whose work is there must not.
  const std::vector<std::int64_t> steps = steps_in(folder);
  const bool finished = std::any_of(steps.begin(), steps.end(), [&](std::int64_t step) {
    return has_marker(fs::path(folder) / step_name(step));
  });
  if (finished) {
    throw Error("--resume",
                fmt::format("auto finds no whole checkpoint: {}", fmt::join(found.notes, "; ")),
                fmt::format("restore one, or start anew in another folder than {}", folder));
  }
  found.notes.push_back(fmt::format("no complete checkpoint in {}: a new run", folder));
  return found;
}

bool stands_in(const std::string& checkpoint, const std::string& folder) {
  std::error_code fault;
  const fs::path path = fs::canonical(checkpoint, fault);
  return !fault && fs::equivalent(path.parent_path(), folder, fault);
}

// A folder belongs to one run.
void require_own_folder(const std::string& folder, const std::string& resume) {
  if (folder.empty() || steps_in(folder).empty()) return;
  if (!resume.empty() && stands_in(resume, folder)) return;
  throw Error("--out", folder + " holds checkpoints of another run",
              "go on with it by --resume auto, or name another folder");
}

void require_no_later(const std::string& folder, std::int64_t step) {
  if (folder.empty()) return;
  const std::vector<std::int64_t> steps = steps_in(folder);  // the newest first
  if (steps.empty() || steps.front() <= step) return;
  throw Error(
      "--out",
      fmt::format("{} holds {}, which is later than {}", folder, step_name(steps.front()),
                  step_name(step)),
      "go on from the newest by --resume auto, name another folder, or delete what is later");
}

}  // namespace

Resumption find_resumption(const std::string& folder, const std::string& resume, Verify verify) {
  if (resume == "auto") return newest_in(folder, verify);
  Resumption found;
  if (!resume.empty()) found.checkpoint = open_checkpoint(resume, verify);
  require_own_folder(folder, resume);
  if (found.checkpoint) require_no_later(folder, found.checkpoint->marker.step);
  return found;
}

}  // namespace fourhold::engine
