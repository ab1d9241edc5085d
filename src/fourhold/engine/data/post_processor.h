// The part of a tokenizer.json that puts special tokens around a text.
#pragma once

#include <string>
#include <vector>

#include "fourhold/base/json.h"
#include "fourhold/engine/data/token_type.h"

namespace fourhold::engine::data {

// Appends what stands before and after one text: of TemplateProcessing its `single` template; of
// ByteLevel nothing, since it only moves offsets; a Sequence is read in its order. Error with the
// field's path for other kinds.
void read_post_processor(const json::Value& value, const std::string& path,
                         std::vector<TokenId>& prefix, std::vector<TokenId>& suffix);

}  // namespace fourhold::engine::data
