#include "fourhold/model/foreign_file.h"

#include <cstddef>

namespace fourhold::model {
std::optional<ForeignFile> recognise_foreign_file(std::string_view start) {
  if (start.starts_with("version https://git-lfs")) {
    return ForeignFile{"is a Git LFS pointer, not the weights",
                       "run 'git lfs pull' in its folder, or download the file itself"};
  }
  if (start.starts_with("PK\x03\x04")) {
    return ForeignFile{"is a zip archive, as PyTorch's .bin and .pt files are, not safetensors",
                       "convert it with safetensors, or give the model's config.json"};
  }
  if (start.starts_with("GGUF")) {
    return ForeignFile{"is a GGUF file, not safetensors",
                       "give the safetensors files or the config.json of the original model"};
  }
  if (start.starts_with("\x80\x02")) {
    return ForeignFile{"is a Python pickle, as older PyTorch files are, not safetensors",
                       "convert it with safetensors, or give the model's config.json"};
  }
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return std::nullopt;
  const std::string_view text = start.substr(first);
  if (text.size() > 1 && text[0] == '<' &&
      (text[1] == '!' || text[1] == '?' || (text[1] | 0x20) == 'h')) {
    return ForeignFile{"is an HTML or XML page, not the weights",
                       "the download was answered by a page: log in or fetch the raw file"};
  }
  if (text.size() > 1 && text[0] == '{' && first < 2 &&
      (text[1] == '"' || text[1] == '\n' || text[1] == '\r')) {
    return ForeignFile{"is a JSON text, not a safetensors file",
                       "an index ends in .index.json; a config is config.json"};
  }
  return std::nullopt;
}

}  // namespace fourhold::model
