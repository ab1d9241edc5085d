// What `fourhold sample` is given: which weights, and which tokenizer goes with them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/engine/data/tokenizer.h"
#include "fourhold/engine/sample/generation_config.h"
#include "fourhold/model/model_config.h"
#include "fourhold/model/numerics.h"

namespace fourhold::engine_app {

struct SampleSource {
  std::string weights;    // folder or file
  std::string tokenizer;  // its name, as the checkpoint states it; empty: it does not
  model::ModelConfig model;
  model::Numerics numerics;
  engine::GenerationConfig generation;             // of generation_config.json and config.json
  std::vector<engine::data::TokenId> stop_tokens;  // known with the tokenizer
  std::vector<std::string> notes;
};

// A checkpoint, a folder of checkpoints (the newest complete one is taken, and noted), or published
// weights with their config.json. Throws Error where there are no weights, and where the engine
// lacks a kernel for the model.
[[nodiscard]] SampleSource open_sample_source(const std::string& name);

// The one asked for, else the source's own, else bytes where the checkpoint or the size of the
// vocabulary says that the model was trained on them. Throws Error where none is known, and where
// it has tokens that the model lacks. A choice is noted.
[[nodiscard]] std::shared_ptr<engine::data::Tokenizer> open_source_tokenizer(
    SampleSource& source, const std::string& asked);

// bf16 where all weights are stored so, else fp32.
enum class StoredPrecision : std::uint8_t { fp32, bf16 };
[[nodiscard]] StoredPrecision stored_precision(const std::string& weights);

}  // namespace fourhold::engine_app
