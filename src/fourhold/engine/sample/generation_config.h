// What published models say of making text: eos_token_id of config.json, and the
// generation_config.json that stands beside many.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/base/json.h"
#include "fourhold/engine/data/token_type.h"

namespace fourhold::engine {

// No value where the file says nothing.
struct GenerationConfig {
  std::optional<std::vector<data::TokenId>> stop_tokens;
  std::optional<bool> draws;  // do_sample: false takes the likeliest token
  std::optional<double> temperature;
  std::optional<std::int64_t> top_k;  // 0: all
  std::optional<double> top_p;
  std::vector<std::string> not_applied;  // members that would change the text, and are not known
};

// `eos_token_id` of a config: one id, or a list of them (Llama 3.1 ends with any of three). No
// value where it is absent or null. Error naming the field for what is no id of the vocabulary.
[[nodiscard]] std::optional<std::vector<data::TokenId>> read_stop_tokens(const json::Value& config,
                                                                         std::int64_t vocabulary,
                                                                         const std::string& where);

// A generation_config.json. Errors name the field, as above.
[[nodiscard]] GenerationConfig parse_generation_config(std::string_view text,
                                                       std::int64_t vocabulary,
                                                       const std::string& where);

}  // namespace fourhold::engine
