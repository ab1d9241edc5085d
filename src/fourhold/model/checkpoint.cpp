#include "fourhold/model/checkpoint.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/model/checkpoint_index.h"
#include "fourhold/model/inner_folder.h"

namespace fourhold::model {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFileSuffix = ".safetensors";
constexpr std::string_view kIndexSuffix = ".safetensors.index.json";

// Names of the plain files in a folder with that suffix, sorted: folders have no order of their
// own.
std::vector<std::string> files_in(const fs::path& folder, std::string_view suffix) {
  std::vector<std::string> names;
  std::error_code fault;
  fs::directory_iterator entry(folder, fault);
  for (; !fault && entry != fs::directory_iterator(); entry.increment(fault)) {
    std::error_code ignored;
    const std::string name = entry->path().filename().string();
    if (name.ends_with(suffix) && entry->is_regular_file(ignored)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The optimizer's state of a training run (engine/checkpoint/state_files.h) stands beside its
// weights and is none: state-00001-of-00004.safetensors.
bool is_training_state(std::string_view name) {
  return name.starts_with("state-") && name.find("-of-") != std::string_view::npos;
}

std::vector<std::string> weight_files_in(const fs::path& folder) {
  std::vector<std::string> names = files_in(folder, kFileSuffix);
  names.erase(std::remove_if(names.begin(), names.end(), is_training_state), names.end());
  return names;
}

std::string joined(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
    text += fmt::format("{}{:.120}", i == 0 ? "" : ", ", names[i]);
  }
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

fs::path folder_of(const fs::path& file) {
  const fs::path folder = file.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

// The file in a folder that stands for the checkpoint.
fs::path file_for(const fs::path& folder) {
  const std::vector<std::string> indexes = files_in(folder, kIndexSuffix);
  const std::vector<std::string> files = weight_files_in(folder);
  if (std::find(indexes.begin(), indexes.end(), "model.safetensors.index.json") != indexes.end()) {
    return folder / "model.safetensors.index.json";
  }
  if (indexes.size() == 1) return folder / indexes.front();
  // The name of a whole model; others beside it are something else.
  if (indexes.empty() &&
      std::find(files.begin(), files.end(), "model.safetensors") != files.end()) {
    return folder / "model.safetensors";
  }
  if (indexes.empty() && files.size() == 1) return folder / files.front();
  if (indexes.empty() && files.empty()) {
    const std::optional<std::string> inside = last_folder_with(
        folder.string(), [](const fs::path& inner) { return is_checkpoint_path(inner.string()); });
    throw Error(folder.string(), "holds no safetensors file and no index",
                inside ? "a folder in it does: " + *inside
                       : "name a .safetensors file, its .index.json, or a folder that holds them");
  }
  const std::vector<std::string>& choices = indexes.empty() ? files : indexes;
  throw Error(folder.string(),
              fmt::format("holds {} {}: {}", choices.size(),
                          indexes.empty() ? "safetensors files but no index" : "indexes",
                          joined(choices, 10)),
              indexes.empty() ? "fetch model.safetensors.index.json, or name one file"
                              : "name one of them");
}

void refuse_missing_shards(const CheckpointIndex& index, const fs::path& folder,
                           const std::string& where) {
  std::vector<std::string> missing;
  for (const std::string& shard : index.shards) {
    std::error_code fault;
    if (!fs::is_regular_file(folder / shard, fault)) missing.push_back(shard);
  }
  if (missing.empty()) return;
  throw Error(
      where,
      fmt::format("lists {}, of which {} {} missing: {}",
                  counted(static_cast<std::int64_t>(index.shards.size()), "shard"), missing.size(),
                  missing.size() == 1 ? "is" : "are", joined(missing, missing.size())),
      fmt::format("fetch the missing files into {}", folder.string()));
}

// Notes the folder's safetensors files that are not among those to read (sorted). `lead` begins the
// sentence.
void note_files_beside(std::string_view lead, const std::vector<std::string>& read,
                       const fs::path& folder, Checkpoint& checkpoint) {
  std::vector<std::string> beside;
  for (const std::string& name : weight_files_in(folder)) {
    if (!std::binary_search(read.begin(), read.end(), name)) beside.push_back(name);
  }
  if (beside.empty()) return;
  checkpoint.notes.push_back(fmt::format(
      "{} {} safetensors file{} beside it, which {} not counted: {}", lead, beside.size(),
      beside.size() == 1 ? "" : "s", beside.size() == 1 ? "is" : "are", joined(beside, 10)));
}

// Names the index gives to one shard, sorted.
std::vector<std::vector<std::string_view>> names_by_shard(const CheckpointIndex& index) {
  std::vector<std::vector<std::string_view>> names(index.shards.size());
  for (const CheckpointIndex::Entry& entry : index.entries) {
    names[static_cast<std::size_t>(entry.shard)].push_back(entry.tensor);
  }
  for (std::vector<std::string_view>& shard : names) std::sort(shard.begin(), shard.end());
  return names;
}

Checkpoint read_sharded(const fs::path& path) {
  const std::string where = path.string();
  const CheckpointIndex index = read_checkpoint_index(where);
  const fs::path folder = folder_of(path);
  refuse_missing_shards(index, folder, where);

  Checkpoint checkpoint;
  checkpoint.path = where;
  checkpoint.files = index.shards;
  checkpoint.stated_bytes = index.total_bytes;
  checkpoint.stated_parameters = index.total_parameters;
  note_files_beside("the index does not name", index.shards, folder, checkpoint);

  const std::vector<std::vector<std::string_view>> wanted = names_by_shard(index);
  std::vector<std::string> absent;
  std::vector<std::string> unnamed;
  for (std::size_t i = 0; i < index.shards.size(); ++i) {
    CheckpointHeader header = read_checkpoint_header((folder / index.shards[i]).string());
    checkpoint.data_begins.push_back(header.data_begin);
    std::vector<std::string_view> held;
    for (const StoredTensor& tensor : header.tensors) held.push_back(tensor.name);
    std::sort(held.begin(), held.end());
    for (const std::string_view name : wanted[i]) {
      if (std::binary_search(held.begin(), held.end(), name)) continue;
      absent.push_back(fmt::format("{:.120} (in {})", name, index.shards[i]));
    }
    for (StoredTensor& tensor : header.tensors) {
      const std::string_view name = tensor.name;
      if (std::binary_search(wanted[i].begin(), wanted[i].end(), name)) {
        checkpoint.tensors.push_back(std::move(tensor));
        checkpoint.tensor_files.push_back(static_cast<std::int32_t>(i));
      } else {
        unnamed.push_back(tensor.name);
      }
    }
  }
  if (!absent.empty()) {
    throw Error(where,
                fmt::format("names {} tensor{} that its files do not hold: {}", absent.size(),
                            absent.size() == 1 ? "" : "s", joined(absent, 20)),
                "the index and the files are from different checkpoints: fetch both again");
  }
  if (!unnamed.empty()) {
    checkpoint.notes.push_back(
        fmt::format("the files hold {} tensor{} that the index does not name and that {} not "
                    "counted: {}",
                    unnamed.size(), unnamed.size() == 1 ? "" : "s",
                    unnamed.size() == 1 ? "is" : "are", joined(unnamed, 10)));
  }
  return checkpoint;
}

Checkpoint read_single(const fs::path& path) {
  Checkpoint checkpoint;
  checkpoint.path = path.string();
  checkpoint.files.push_back(path.filename().string());
  CheckpointHeader header = read_checkpoint_header(checkpoint.path);
  checkpoint.tensors = std::move(header.tensors);
  checkpoint.tensor_files.assign(checkpoint.tensors.size(), 0);
  checkpoint.data_begins.push_back(header.data_begin);
  if (checkpoint.files.front().find("-of-") != std::string::npos) {
    checkpoint.notes.push_back(
        fmt::format("{} looks like one shard of several: only this file is counted; name the index "
                    "to count all",
                    checkpoint.files.front()));
  }
  return checkpoint;
}

}  // namespace

bool is_checkpoint_path(const std::string& path) {
  std::error_code fault;
  if (fs::is_directory(path, fault)) {
    return !weight_files_in(path).empty() || !files_in(path, kIndexSuffix).empty();
  }
  return path.ends_with(kFileSuffix) || path.ends_with(".index.json");
}

Checkpoint read_checkpoint(const std::string& path) {
  std::error_code fault;
  const bool folder = fs::is_directory(path, fault);
  const fs::path file = folder ? file_for(path) : fs::path(path);
  if (file.string().ends_with(".json")) return read_sharded(file);
  Checkpoint checkpoint = read_single(file);
  if (folder) note_files_beside("the model is one file, with", checkpoint.files, path, checkpoint);
  return checkpoint;
}

}  // namespace fourhold::model
