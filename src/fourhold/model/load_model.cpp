#include "fourhold/model/load_model.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "fourhold/base/error.h"
#include "fourhold/base/near_match.h"
#include "fourhold/base/text_file.h"
#include "fourhold/model/catalogue.h"
#include "fourhold/model/checkpoint.h"
#include "fourhold/model/hf_config.h"
#include "fourhold/model/inner_folder.h"

namespace fourhold::model {
namespace {

namespace fs = std::filesystem;

// The largest published config.json is a few hundred KiB; its reader's heap is bounded up to here.
constexpr std::int64_t kMaxConfigBytes = 1 << 20;

bool is_on_disk(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// Whether an argument that is nowhere on disk was meant as a path rather than a name.
bool looks_like_path(const std::string& text) {
  const fs::path path(text);
  const std::string extension = path.extension().string();
  return text.front() == '.' || text.front() == '/' || text.back() == '/' || extension == ".json" ||
         extension == ".safetensors" || extension == ".bin";
}

[[noreturn]] void unknown_model(const std::string& argument) {
  // "meta-llama/Llama-3.1-8B" is how the model is called elsewhere: its last part may be near.
  const std::string last = fs::path(argument).filename().string();
  std::string hint = did_you_mean(last, catalogue_names());
  if (!hint.empty()) hint += " ";
  hint += "`fourhold models` lists the built-in names; a path to a config.json works for any model";
  throw Error("model", "'" + argument + "' is neither a built-in model nor a file or folder", hint);
}

// Two things that a failed download leaves under the right name.
void refuse_foreign_text(const std::string& text, const std::string& path) {
  if (text.rfind("version https://git-lfs", 0) == 0) {
    throw Error(path, "is a Git LFS pointer, not the file itself", "fetch it with `git lfs pull`");
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '<') {
    throw Error(path, "is a web page, not a config.json", "download the raw file");
  }
}

ConfigText read_config_file(const fs::path& path) {
  ConfigText config{read_text_file(path.string(), kMaxConfigBytes), path.string()};
  refuse_foreign_text(config.text, config.name);
  return config;
}

}  // namespace

ConfigText load_config_text(const std::string& name_or_path) {
  if (name_or_path.empty()) {
    throw Error("model", "is empty", "`fourhold models` lists the built-in names");
  }
  if (const auto text = catalogue_text(name_or_path)) {
    return {std::string(*text), name_or_path};
  }

  const fs::path path(name_or_path);
  if (!is_on_disk(path)) {
    if (looks_like_path(name_or_path)) {
      throw Error("model", "'" + name_or_path + "' does not exist", "check the path");
    }
    unknown_model(name_or_path);
  }
  const bool folder = is_folder(path);
  const bool weights = is_checkpoint_path(name_or_path);
  if (!folder && !weights) return read_config_file(path);

  const fs::path config = (folder ? path : path.parent_path()) / "config.json";
  if (is_on_disk(config)) return read_config_file(config);
  if (weights) {
    throw Error(name_or_path, "holds weights but there is no config.json beside them",
                "`fourhold params` counts the weights alone; put the model's config.json into the "
                "same folder to plan with it");
  }
  const std::optional<std::string> inside = last_folder_with(
      name_or_path, [](const fs::path& inner) { return is_on_disk(inner / "config.json"); });
  throw Error(
      name_or_path, "holds no config.json",
      inside ? "a folder in it does: " + *inside : "name a folder that holds one, or the file");
}

ModelConfig load_model(const std::string& name_or_path) {
  const ConfigText config = load_config_text(name_or_path);
  return read_hf_config(config.text, config.name);
}

}  // namespace fourhold::model
