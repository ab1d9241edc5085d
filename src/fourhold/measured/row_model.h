// The model of a row: its columns, its framework's habits and what is published of its name.
#pragma once

#include <cstdint>
#include <optional>

#include "fourhold/measured/catalogue.h"
#include "fourhold/measured/findings.h"
#include "fourhold/measured/measured_row.h"
#include "fourhold/model/model_config.h"

namespace fourhold::measured {

// What a framework builds where the name of the model says nothing.
enum class ModelStyle : std::uint8_t {
  gpt2,     // layer norms, GELU, biases, learned positions, tied head
  mpt,      // the same without biases, with ALiBi
  llama,    // RMS norms, gated SiLU, no biases, rotary positions
  megatron  // as the arguments in the notes say; their defaults are those of gpt2
};

// The model, or nothing where `findings` says what is missing. A name that is a built-in model, or
// one of its family, gives what the columns do not say (norms of q and k, biases, latent attention,
// shared experts); sizes are always the columns'. Blank sizes of a name whose configuration is
// public are in data/measured/tables/models.csv.
[[nodiscard]] std::optional<model::ModelConfig> model_of(const MeasuredRow& row, ModelStyle style,
                                                         Catalogue& catalogue, Findings& findings);

}  // namespace fourhold::measured
