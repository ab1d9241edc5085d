#include "fourhold/engine/checkpoint/checkpoint_save.h"

#include <algorithm>
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
  for (const fs::path& path : leftovers) (void)remove_unless_saving(path.string());
}

[[noreturn]] void refuse_second_run(const std::string& path) {
  throw Error(path, "another run is saving this step here", "save to another folder");
}

// Deleted by renaming first: what a kill leaves is a leftover, never half a checkpoint.
void remove_step(const std::string& folder, std::int64_t step) {
  const std::string partial = (fs::path(folder) / partial_name(step)).string();
  rename_and_sync((fs::path(folder) / step_name(step)).string(), partial);
  remove_folder(partial);
}

}  // namespace

CheckpointSave::CheckpointSave(std::string folder, std::int64_t step, RankOf who)
    : folder_(folder.empty() ? "." : std::move(folder)),
      step_(step),
      who_(who),
      at_((fs::path(folder_) / partial_name(step)).string()) {
  assert(step >= 0 && who.rank >= 0 && who.rank < who.ranks);
  list_.step = step;
  if (who_.rank == 0) {
    make_folder();
  } else {
    list_.token = find_token(at_);
  }
}

void CheckpointSave::make_folder() {
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
    // A save that was killed before its marker, or is damaged.
    if (!remove_unless_saving(path())) refuse_second_run(path());
  }
  remove_leftovers(folder_);
  const bool made = fs::create_directory(at_, fault);
  if (fault) fail(at_, "cannot be made", fault);
  if (!made) refuse_second_run(at_);
  try {
    lock_.emplace(at_);
  } catch (const Error&) {
    fs::remove(at_, fault);  // if it is empty: it may have become another run's
    throw;
  }
  list_.token = lock_->token();
}

CheckpointSave::~CheckpointSave() {
  if (complete_ || !lock_.has_value()) return;
  std::error_code ignored;  // the next save removes what stays
  fs::remove_all(at_, ignored);
}

std::string CheckpointSave::path() const { return (fs::path(folder_) / step_name(step_)).string(); }

void CheckpointSave::write_model(const model::ModelConfig& config, const WeightsFormat& format,
                                 const WeightSource& source) {
  assert(who_.ranks == 1);
  add(write_published(at_, config, format, source));
}

void CheckpointSave::lay_out_model(const model::ModelConfig& config, const WeightsFormat& format) {
  layout_ = lay_out(config, format);
  if (who_.rank == 0) add(create_published(at_, *layout_));
}

void CheckpointSave::write_weights(std::span<const OwnedWeight> weights) {
  assert(layout_.has_value());
  for (const WrittenBytes& written : write_owned(at_, *layout_, weights)) {
    list_.shared.push_back({{}, written});
  }
}

void CheckpointSave::sum_weights() {
  std::vector<FileSum> sums = sum_own_blocks(at_, *layout_, who_);
  assert(sums.size() == list_.shared.size());
  for (std::size_t i = 0; i < sums.size(); ++i) list_.shared[i].sum = std::move(sums[i]);
}

void CheckpointSave::add(std::vector<FileSum> files) {
  for (FileSum& file : files) list_.files.push_back(std::move(file));
}

void CheckpointSave::write_run(const RunState& state) {
  assert(who_.rank == 0 && state.step == step_);
  list_.files.push_back(write_new_file(at_, std::string(kRunStateName), write_run_state(state)));
}

void CheckpointSave::write_optimizer(std::span<const StateTensor> tensors) {
  list_.files.push_back(write_state(at_, who_, tensors));
}

void CheckpointSave::close() {
  // Of no use once the marker is written, which lists the files of all ranks.
  static_cast<void>(write_new_file(at_, rank_list_name(who_), write_rank_list(list_)));
}

std::vector<FileSum> CheckpointSave::take_rank_lists() const {
  std::vector<FileSum> files;
  std::vector<std::vector<SharedShare>> shares;
  for (int rank = 0; rank < who_.ranks; ++rank) {
    const fs::path path = fs::path(at_) / rank_list_name({rank, who_.ranks});
    RankList list = parse_rank_list(read_text_file(path.string(), kMaxListBytes), path.string());
    if (list.token != list_.token || list.step != step_) {
      throw Error(path.string(), fmt::format("is of another save than that of step {}", step_),
                  "all ranks must see one file system: save to a folder that they share");
    }
    for (FileSum& file : list.files) files.push_back(std::move(file));
    shares.push_back(std::move(list.shared));
    std::error_code fault;
    if (!fs::remove(path, fault)) fail(path, "cannot be removed", fault);
  }
  if (layout_.has_value()) {
    for (FileSum& file : join_shares(at_, *layout_, shares)) files.push_back(std::move(file));
  }
  return files;
}

void CheckpointSave::publish(std::optional<int> keep_last, std::span<const std::int64_t> damaged) {
  assert(who_.rank == 0 && (!keep_last.has_value() || *keep_last > 0));
  lock_->require(at_);
  const Marker marker{step_, take_rank_lists()};
  sync_folder(at_);
  rename_and_sync(at_, path());
  at_ = path();
  const std::string written = fmt::format("{}.new", kMarkerName);
  static_cast<void>(write_new_file(at_, written, write_marker(marker)));
  rename_and_sync((fs::path(at_) / written).string(),
                  (fs::path(at_) / std::string(kMarkerName)).string());
  complete_ = true;
  lock_->release(at_);
  if (!keep_last.has_value()) return;
  int kept = 0;
  for (const std::int64_t step : steps_in(folder_)) {
    if (step > step_) continue;  // stepped over by the run that goes on
    if (step != step_ && std::find(damaged.begin(), damaged.end(), step) != damaged.end()) continue;
    if (!is_complete((fs::path(folder_) / step_name(step)).string())) continue;
    if (kept < *keep_last || step == step_) {
      ++kept;
    } else {
      remove_step(folder_, step);
    }
  }
}

}  // namespace fourhold::engine
