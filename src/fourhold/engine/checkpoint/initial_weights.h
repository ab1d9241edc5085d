// Random weights as the model families publish their initialisation.
//
// transformers' _init_weights (releases 4.4x; models/gpt2/modeling_gpt2.py, models/llama,
// models/qwen2, models/qwen3, models/mistral, models/phi3): linears and embeddings, positions among
// them, N(0, initializer_range); biases 0; norm weights 1. GPT-2 scales what is added to the
// residual stream (c_proj of attention and feed-forward) by 1 / sqrt(2 n_layer), as its paper says.
// OpenAI's own GPT-2 code drew positions with 0.01; the class that people train with draws them as
// above.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fourhold/base/dtype.h"
#include "fourhold/model/model_config.h"
#include "fourhold/model/names.h"
#include "fourhold/plan/parameter_part.h"

namespace fourhold::engine {

struct Initialisation {
  std::uint64_t seed = 0;
  double range = 0.02;  // initializer_range, the same default in all these families
};

// Fills elements [begin, end) of the flattened parameter as fp32 or bf16. A value depends on the
// seed, the parameter's name and the element's index alone. Error for a model type whose
// initialisation is not known here, and for a range that is not above 0.
void fill_initial(const model::ModelConfig& config, const model::ParameterId& id,
                  const Initialisation& initialisation, std::int64_t begin, std::int64_t end,
                  DType dtype, std::byte* out);

// The same of the elements of a part, one after the other.
void fill_initial(const model::ModelConfig& config, const model::ParameterId& id,
                  const Initialisation& initialisation, const plan::ParameterPart& part,
                  DType dtype, std::byte* out);

// The deviation of a parameter's values; 0 for biases and norm weights.
[[nodiscard]] double initial_deviation(const model::ModelConfig& config, model::TensorName name,
                                       double range);

}  // namespace fourhold::engine
