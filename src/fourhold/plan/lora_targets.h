// Which linears have an adapter, as text: a preset, or a list of projections.
#pragma once

#include <string>
#include <string_view>

#include "fourhold/model/adapters.h"
#include "fourhold/model/model_config.h"

namespace fourhold::plan {

// `all-linear` (PEFT's word: all of a layer's but routers and routed experts), `attention`,
// `attention-qv`, `mlp`, or any of q, k, v, kv, o, gate, up, down, linear, as in `q,v`; PEFT's
// q_proj for q is understood. Throws Error naming `lora_targets`, near matches and the legal
// values.
[[nodiscard]] model::AdapterTargets lora_targets_from_string(std::string_view text);
[[nodiscard]] std::string to_string(const model::AdapterTargets& targets);

// The targets that layers of this model have.
[[nodiscard]] model::AdapterTargets adapter_targets_of(const model::ModelConfig& config);

}  // namespace fourhold::plan
