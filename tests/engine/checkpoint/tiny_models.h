// Small models of each family, and weights whose values say where they stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fourhold/engine/checkpoint/element_copy.h"
#include "fourhold/engine/checkpoint/published_writer.h"
#include "fourhold/model/hf_config.h"
#include "fourhold/model/published_tensors.h"

namespace fourhold::engine {

inline model::ModelConfig tiny_gpt2() {
  return model::read_hf_config(
      R"({"model_type": "gpt2", "vocab_size": 11, "n_embd": 8, "n_head": 2, "n_layer": 2,
          "n_positions": 4})",
      "tiny gpt2");
}

// Untied; two KV heads for four heads.
inline model::ModelConfig tiny_llama() {
  return model::read_hf_config(
      R"({"model_type": "llama", "vocab_size": 10, "hidden_size": 8, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 16, "rope_theta": 10000.0})",
      "tiny llama");
}

inline model::ModelConfig tiny_qwen2() {
  return model::read_hf_config(
      R"({"model_type": "qwen2", "vocab_size": 10, "hidden_size": 8, "intermediate_size": 12,
          "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1,
          "tie_word_embeddings": true})",
      "tiny qwen2");
}

inline model::ModelConfig tiny_qwen3() {
  return model::read_hf_config(
      R"({"model_type": "qwen3", "vocab_size": 10, "hidden_size": 8, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2,
          "head_dim": 6, "tie_word_embeddings": true})",
      "tiny qwen3");
}

inline std::vector<model::PublishedPart> parts_of(const model::ModelConfig& config) {
  std::vector<model::PublishedPart> parts;
  for (const auto& tensor : model::published_tensors(config)) {
    parts.insert(parts.end(), tensor.parts.begin(), tensor.parts.end());
  }
  return parts;
}

// All weights in memory, by name. Element e of the i-th parameter is 1000 i + e: exact in fp32.
class Weights {
 public:
  Weights(const model::ModelConfig& config, DType dtype) : dtype_(dtype) {
    float first = 0;
    for (const model::PublishedPart& part : parts_of(config)) {
      std::vector<float> values(static_cast<std::size_t>(part.size.elements()));
      for (std::size_t e = 0; e < values.size(); ++e) values[e] = first + static_cast<float>(e);
      first += 1000;
      std::vector<std::byte>& bytes = data_[to_string(part.id)];
      bytes.resize(static_cast<std::size_t>(bytes_of(part.size.elements(), dtype)));
      const auto count = static_cast<std::int64_t>(values.size());
      copy_elements({reinterpret_cast<const std::byte*>(values.data()), DType::fp32, count},
                    {bytes.data(), dtype, count}, 1, count);
    }
  }
  [[nodiscard]] Tensor tensor(const model::PublishedPart& part) {
    return {data_.at(to_string(part.id)).data(), dtype_, {part.size.elements()}};
  }
  [[nodiscard]] const std::vector<std::byte>& bytes(const model::ParameterId& id) const {
    return data_.at(to_string(id));
  }
  [[nodiscard]] WeightSource source(DType dtype) {
    return [this, dtype](const model::PublishedPart& part, const Window& window, std::byte* out) {
      copy_window(tensor(part), part.size, window, dtype, out);
    };
  }

 private:
  DType dtype_;
  std::map<std::string, std::vector<std::byte>> data_;
};

}  // namespace fourhold::engine
