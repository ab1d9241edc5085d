// The parameters of each block: the one place that states their shapes, and their exact counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fourhold/model/model_config.h"
#include "fourhold/model/names.h"
#include "fourhold/model/shape.h"

namespace fourhold::model {

// How an optimizer and a sharder see a parameter.
enum class ParameterRole : std::uint8_t {
  matrix,     // a linear's weight [out, in] (experts: [experts, out, in])
  embedding,  // a lookup table [rows, width]
  vector,     // biases, norm weights, sinks: no weight decay
  buffer,     // stored and counted as published, but not trained by gradient (correction_bias)
};

struct Parameter {
  TensorName name = TensorName::token_embedding;
  Shape shape;  // [out..., in...], each dimension tagged; heads x head_dim stay apart
  ParameterRole role = ParameterRole::matrix;
  [[nodiscard]] std::int64_t elements() const { return shape.elements(); }
};

// Matrices of layers: what adapters, quantisation and Muon are for; not embedding or head.
[[nodiscard]] bool is_layer_matrix(const Parameter& parameter);

// Parameters of one block, in the order they are used. A tied head has no head_weight. Norms behind
// a branch (post_branch, post_add, sandwich) are the *_post_norm_* names; a branch that is absent
// has no norms either.
[[nodiscard]] std::vector<Parameter> embedding_parameters(const ModelConfig& config);
[[nodiscard]] std::vector<Parameter> layer_parameters(const ModelConfig& config,
                                                      const LayerKind& kind);
[[nodiscard]] std::vector<Parameter> head_parameters(const ModelConfig& config);
// Of one layer of multi-token prediction: its layer, and 2 h^2 + 3 h (h more for each norm's bias)
// around it (DeepSeek-V3, arXiv 2412.19437, section 2.2). Embedding and head are the model's own.
[[nodiscard]] std::vector<Parameter> prediction_parameters(const ModelConfig& config,
                                                           const LayerKind& kind);
// Parameters of `layers` such layers, shaped like the model's last.
[[nodiscard]] std::int64_t count_prediction_parameters(const ModelConfig& config,
                                                       std::int64_t layers);

// Exact counts of the language model. `active`: what one token touches (routed experts outside its
// top-k left out; embeddings counted). `embedding`: the token table (counted once if tied).
struct ParameterCounts {
  std::int64_t total = 0;
  std::int64_t active = 0;
  std::int64_t embedding = 0;
  [[nodiscard]] std::int64_t active_without_embedding() const { return active - embedding; }
};
[[nodiscard]] ParameterCounts count_parameters(const ModelConfig& config);

}  // namespace fourhold::model
