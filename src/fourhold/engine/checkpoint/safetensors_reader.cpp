#include "fourhold/engine/checkpoint/safetensors_reader.h"

#include <filesystem>
#include <string_view>

#include "fourhold/model/checkpoint.h"

namespace fourhold::engine {

SafetensorsFile parse_safetensors(std::span<const std::byte> file, const std::string& where) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  model::CheckpointHeader header =
      model::parse_checkpoint_header(text, static_cast<std::int64_t>(file.size()), where);
  SafetensorsFile parsed;
  parsed.metadata = std::move(header.metadata);
  parsed.tensors.reserve(header.tensors.size());
  const std::span<const std::byte> data = file.subspan(static_cast<std::size_t>(header.data_begin));
  for (model::StoredTensor& tensor : header.tensors) {
    const std::span<const std::byte> bytes = data.subspan(static_cast<std::size_t>(tensor.begin),
                                                          static_cast<std::size_t>(tensor.bytes()));
    parsed.tensors.push_back({std::move(tensor), bytes, where});
  }
  return parsed;
}

WeightFiles::WeightFiles(const std::string& path) {
  model::Checkpoint checkpoint = model::read_checkpoint(path);
  path_ = checkpoint.path;
  notes_ = std::move(checkpoint.notes);
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  for (const std::string& name : checkpoint.files) files_.emplace_back((folder / name).string());
  tensors_.reserve(checkpoint.tensors.size());
  for (std::size_t i = 0; i < checkpoint.tensors.size(); ++i) {
    const auto at = static_cast<std::size_t>(checkpoint.tensor_files[i]);
    model::StoredTensor& tensor = checkpoint.tensors[i];
    const std::int64_t data = checkpoint.data_begins[at];
    const std::span<const std::byte> bytes =
        files_[at].piece(data + tensor.begin, data + tensor.end);
    tensors_.push_back({std::move(tensor), bytes, files_[at].path()});
  }
}

}  // namespace fourhold::engine
