// Byte-level BPE, as a published tokenizer.json describes it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "fourhold/engine/data/tokenizer.h"

namespace fourhold::engine::data {

// From the text of a tokenizer.json. The ids are those of huggingface/tokenizers with
// add_special_tokens=False; what that one adds is prefix() and suffix(). Texts must be UTF-8. Error
// as for parse_tokenizer_json, and when tokens, merges and ids do not agree.
[[nodiscard]] std::unique_ptr<Tokenizer> make_byte_bpe_tokenizer(std::string_view json,
                                                                 const std::string& where);

}  // namespace fourhold::engine::data
