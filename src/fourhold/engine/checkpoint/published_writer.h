// Writes a model as the folder that transformers loads: safetensors under the published names, in
// shards with an index when they are large, and config.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fourhold/base/dtype.h"
#include "fourhold/engine/checkpoint/file_sum.h"
#include "fourhold/engine/checkpoint/published_layout.h"
#include "fourhold/engine/checkpoint/windows.h"
#include "fourhold/engine/tensor/tensor.h"
#include "fourhold/model/model_config.h"
#include "fourhold/model/published_tensors.h"

namespace fourhold::engine {

// Fills `out` with a window of a parameter, row by row, in the dtype of the file. Windows are asked
// for in a fixed order, and have at most kWindowBytes unless one row or column is longer.
using WeightSource =
    std::function<void(const model::PublishedPart& part, const Window& window, std::byte* out)>;
inline constexpr std::int64_t kWindowBytes = 4 << 20;

// What a source does where the whole parameter stands in memory, of any type that converts.
void copy_window(const Tensor& parameter, const model::MatrixSize& size, const Window& window,
                 DType dtype, std::byte* out);

// Writes model.safetensors, or model-00001-of-0000N.safetensors and model.safetensors.index.json,
// and config.json into a folder that holds none of them. Memory: two windows. Errors are those of
// FileWriter and of model::write_hf_config.
[[nodiscard]] std::vector<FileSum> write_published(const std::string& folder,
                                                   const model::ModelConfig& config,
                                                   const WeightsFormat& format,
                                                   const WeightSource& source);

// Of these, the files that hold no weights: the index, if any, and config.json.
[[nodiscard]] std::vector<FileSum> write_published_texts(const std::string& folder,
                                                         const PublishedLayout& layout);

}  // namespace fourhold::engine
