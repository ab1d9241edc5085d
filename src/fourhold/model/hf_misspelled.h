// Fields of a config.json whose names look like slips of the pen. Published files hold many fields
// that change no count (torch_dtype, bos_token_id, auto_map ...), so only near misses are named.
#pragma once

#include <string>

#include "fourhold/model/hf_reading.h"

namespace fourhold::model {

// Notes every number or flag nobody asked for whose name is nearly that of a field that was asked
// for and is absent: the model was counted without it. Call it when all is read.
void note_misspelled(Reading& reading);

// The hint of an Error for a field that is missing under all its names: the field of the file that
// may be meant, then `otherwise`.
[[nodiscard]] std::string missing_hint(const Reading& reading, Aliases names,
                                       const std::string& otherwise);

}  // namespace fourhold::model
