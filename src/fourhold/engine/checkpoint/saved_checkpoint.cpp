#include "fourhold/engine/checkpoint/saved_checkpoint.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/text_file.h"
#include "fourhold/engine/checkpoint/checkpoint_names.h"
#include "fourhold/engine/checkpoint/checkpoint_save.h"
#include "fourhold/model/hf_config.h"

namespace fourhold::engine {
namespace {

namespace fs = std::filesystem;

// A marker lists one line per 64 MiB; configs and run states are far smaller.
constexpr std::int64_t kMaxTextBytes = 100'000'000;

// What stands where a checkpoint was asked for, and has no marker.
[[noreturn]] void refuse_unmarked(const fs::path& path) {
  std::error_code fault;
  if (!fs::exists(path, fault)) throw Error(path.string(), "does not exist", "check the path");
  if (!fs::is_directory(path, fault)) {
    throw Error(
        path.string(), "is a file; a checkpoint is a folder",
        fmt::format("name the folder: {}",
                    path.has_parent_path() ? path.parent_path().string() : std::string(".")));
  }
  for (const std::int64_t step : steps_in(path.string())) {
    const std::string inside = (path / step_name(step)).string();
    if (!is_complete(inside)) continue;
    throw Error(path.string(), "is the folder of a run, not one checkpoint",
                fmt::format("name one of its checkpoints, such as {}", inside));
  }
  throw Error(path.string(), fmt::format("has no {}: its save was not finished", kMarkerName),
              "use an older checkpoint; if this is a published model, start from its weights");
}

Marker read_marker(const fs::path& folder) {
  const fs::path path = folder / std::string(kMarkerName);
  std::error_code fault;
  if (!fs::exists(path, fault)) refuse_unmarked(folder);
  Marker marker = parse_marker(read_text_file(path.string(), kMaxTextBytes), path.string());
  const std::optional<std::int64_t> named = step_of(folder.filename().string());
  if (named.has_value() && *named != marker.step) {
    throw Error(path.string(), fmt::format("is the marker of step {}", marker.step),
                "the folder was renamed, or its files are from two checkpoints");
  }
  return marker;
}

void check_files(const std::string& path, const Marker& marker, Verify verify) {
  for (const FileSum& file : marker.files) {
    if (verify == Verify::sizes) {
      check_file_size(path, file);
    } else {
      check_file_contents(path, file);
    }
  }
}

}  // namespace

SavedCheckpoint open_checkpoint(const std::string& path, Verify verify) {
  SavedCheckpoint saved;
  saved.path = path;
  saved.marker = read_marker(path);
  check_files(path, saved.marker, verify);
  const std::string run = (fs::path(path) / std::string(kRunStateName)).string();
  saved.run = parse_run_state(read_text_file(run, kMaxTextBytes), run);
  const std::string config = (fs::path(path) / "config.json").string();
  saved.model = model::read_hf_config(read_text_file(config, kMaxTextBytes), config);
  if (saved.run.step != saved.marker.step) {
    throw Error(
        run,
        fmt::format("stands at step {}, the checkpoint at {}", saved.run.step, saved.marker.step),
        "the files are from different checkpoints");
  }
  return saved;
}

std::optional<SavedCheckpoint> own_checkpoint(const std::string& weights, Verify verify) {
  std::error_code fault;
  const fs::path path(weights);
  const fs::path folder = fs::is_directory(path, fault) ? path : path.parent_path();
  const std::string name = folder.empty() ? "." : folder.string();
  if (fs::exists(folder / std::string(kMarkerName), fault)) return open_checkpoint(name, verify);
  if (!fs::exists(folder / std::string(kRunStateName), fault)) return std::nullopt;
  throw Error(name, fmt::format("has no {}: its save was not finished", kMarkerName),
              fmt::format("use another checkpoint; weights known to be good are taken without "
                          "their {}",
                          kRunStateName));
}

bool is_complete(const std::string& path, Verify verify) {
  try {
    check_files(path, read_marker(path), verify);
    return true;
  } catch (const Error&) {
    return false;
  }
}

Latest latest_checkpoint(const std::string& folder, Verify verify) {
  Latest latest;
  for (const std::int64_t step : steps_in(folder)) {
    const std::string path = (fs::path(folder) / step_name(step)).string();
    try {
      static_cast<void>(open_checkpoint(path, verify));
      latest.path = path;
      return latest;
    } catch (const Error& fault) {
      latest.damaged.push_back(step);
      latest.skipped.push_back(
          fmt::format("{} is skipped: {}: {}", step_name(step), fault.where(), fault.what()));
    }
  }
  return latest;
}

}  // namespace fourhold::engine
