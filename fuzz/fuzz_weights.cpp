// Any bytes as a model's weights: refused with an Error, or every parameter can be read.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "fourhold/base/error.h"
#include "fourhold/engine/checkpoint/published_reader.h"
#include "fourhold/engine/checkpoint/safetensors_reader.h"
#include "fourhold/model/hf_config.h"
#include "fourhold/model/published_tensors.h"

namespace {

const fourhold::model::ModelConfig& tiny_model() {
  static const fourhold::model::ModelConfig config = fourhold::model::read_hf_config(
      R"({"model_type": "gpt2", "vocab_size": 3, "n_embd": 2, "n_head": 1, "n_layer": 1,
          "n_positions": 2})",
      "tiny");
  return config;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace engine = fourhold::engine;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  try {
    const engine::SafetensorsFile file = engine::parse_safetensors(bytes, "fuzz");
    const engine::PublishedWeights weights(file.tensors, tiny_model(), "fuzz");
    for (const auto& tensor : fourhold::model::published_tensors(tiny_model())) {
      for (const auto& part : tensor.parts) {
        std::vector<std::byte> values(static_cast<std::size_t>(2 * part.size.elements()));
        const std::array whole{fourhold::plan::contiguous(0, part.size.elements())};
        weights.read(part.id, whole, fourhold::DType::bf16, values.data());
      }
    }
  } catch (const fourhold::Error& error) {
    if (error.exit_code() != fourhold::ExitCode::bad_input) std::abort();
  }
  return 0;
}
