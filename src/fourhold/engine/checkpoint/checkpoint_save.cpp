#include "fourhold/engine/checkpoint/checkpoint_save.h"

#include <cassert>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/text_file.h"
#include "fourhold/engine/checkpoint/checkpoint_names.h"
#include "fourhold/engine/checkpoint/file_writer.h"
#include "fourhold/engine/checkpoint/marker.h"
#include "fourhold/engine/checkpoint/saved_checkpoint.h"

namespace fourhold::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxListBytes = 100'000'000;

[[noreturn]] void fail(const fs::path& path, std::string_view action, const std::error_code& why) {
  throw Error(path.string(), fmt::format("{}: {}", action, why.message()),
              "check the folder and its file system");
}

void remove_folder(const fs::path& path) {
  std::error_code fault;
  fs::remove_all(path, fault);
  if (fault) fail(path, "cannot be removed", fault);
}

// What killed saves and deletions left behind.
void remove_leftovers(const std::string& folder) {
  std::vector<fs::path> leftovers;
  std::error_code fault;
  for (fs::directory_iterator at(folder, fault); !fault && at != fs::directory_iterator();
       at.increment(fault)) {
    if (is_partial_name(at->path().filename().string())) leftovers.push_back(at->path());
  }
  for (const fs::path& path : leftovers) remove_folder(path);
}

// Deleted by renaming first: what a kill leaves is a leftover, never half a checkpoint.
void remove_step(const std::string& folder, std::int64_t step) {
  const std::string partial = (fs::path(folder) / partial_name(step)).string();
  rename_and_sync((fs::path(folder) / step_name(step)).string(), partial);
  remove_folder(partial);
}

std::string list_name(RankOf who) {
  return fmt::format("files-{:05}-of-{:05}.json", who.rank + 1, who.ranks);
}

}  // namespace

CheckpointSave::CheckpointSave(std::string folder, std::int64_t step, RankOf who)
    : folder_(folder.empty() ? "." : std::move(folder)),
      step_(step),
      who_(who),
      at_((fs::path(folder_) / partial_name(step)).string()) {
  assert(step >= 0 && who.rank >= 0 && who.rank < who.ranks);
  if (who_.rank != 0) return;
  std::error_code fault;
  if (fs::create_directories(folder_, fault)) {
    sync_folder(fs::absolute(folder_).lexically_normal().parent_path().string());
  }
  if (fault) fail(folder_, "cannot be made", fault);
  if (fs::exists(path(), fault)) {
    if (is_complete(path(), Verify::contents)) {
      throw Error(path(), fmt::format("step {} is saved here already", step_),
                  "save to another folder, or delete this checkpoint first");
    }
    remove_step(folder_, step_);  // a save that was killed before its marker, or is damaged
  }
  remove_leftovers(folder_);
  fs::create_directory(at_, fault);
  if (fault) fail(at_, "cannot be made", fault);
}

CheckpointSave::~CheckpointSave() {
  if (complete_ || who_.rank != 0) return;
  std::error_code ignored;  // the next save removes what stays
  fs::remove_all(at_, ignored);
}

std::string CheckpointSave::path() const { return (fs::path(folder_) / step_name(step_)).string(); }

void CheckpointSave::write_model(const model::ModelConfig& config, const WeightsFormat& format,
                                 const WeightSource& source) {
  assert(who_.rank == 0);
  for (FileSum& file : write_published(at_, config, format, source)) {
    files_.push_back(std::move(file));
  }
}

void CheckpointSave::write_run(const RunState& state) {
  assert(who_.rank == 0 && state.step == step_);
  files_.push_back(write_new_file(at_, std::string(kRunStateName), write_run_state(state)));
}

void CheckpointSave::write_optimizer(std::span<const StateTensor> tensors) {
  files_.push_back(write_state(at_, who_, tensors));
}

void CheckpointSave::close() {
  // Of no use once the marker is written, which lists the files of all ranks.
  static_cast<void>(write_new_file(at_, list_name(who_), write_marker({step_, files_})));
}

std::vector<FileSum> CheckpointSave::take_rank_lists() const {
  std::vector<FileSum> files;
  for (int rank = 0; rank < who_.ranks; ++rank) {
    const fs::path list = fs::path(at_) / list_name({rank, who_.ranks});
    for (FileSum& file :
         parse_marker(read_text_file(list.string(), kMaxListBytes), list.string()).files) {
      files.push_back(std::move(file));
    }
    std::error_code fault;
    if (!fs::remove(list, fault)) fail(list, "cannot be removed", fault);
  }
  return files;
}

void CheckpointSave::publish(std::optional<int> keep_last) {
  assert(who_.rank == 0 && (!keep_last.has_value() || *keep_last > 0));
  const Marker marker{step_, take_rank_lists()};
  sync_folder(at_);
  rename_and_sync(at_, path());
  at_ = path();
  const std::string written = fmt::format("{}.new", kMarkerName);
  static_cast<void>(write_new_file(at_, written, write_marker(marker)));
  rename_and_sync((fs::path(at_) / written).string(),
                  (fs::path(at_) / std::string(kMarkerName)).string());
  complete_ = true;
  if (!keep_last.has_value()) return;
  int kept = 0;
  for (const std::int64_t step : steps_in(folder_)) {
    if (step > step_) continue;  // damaged, and stepped over by the run that goes on
    if (!is_complete((fs::path(folder_) / step_name(step)).string())) continue;
    if (kept < *keep_last || step == step_) {
      ++kept;
    } else {
      remove_step(folder_, step);
    }
  }
}

}  // namespace fourhold::engine
