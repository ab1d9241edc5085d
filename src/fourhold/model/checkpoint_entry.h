// One tensor's entry in a safetensors header: {"dtype": ..., "shape": [...], "data_offsets": [b,
// e]}.
#pragma once

#include <cstdint>
#include <string>

#include "fourhold/model/checkpoint_header.h"
#include "fourhold/model/header_scanner.h"

namespace fourhold::model {

struct HeaderEntry {
  StoredTensor tensor;
  std::int64_t at = 0;  // where its name stands in the file, for faults found later
};

// Reads the entry of the tensor `name`, whose name stands at byte `at`. Error for a missing,
// repeated or unknown field, and when shape, dtype and offsets disagree.
[[nodiscard]] HeaderEntry read_header_entry(HeaderScanner& scanner, std::string name,
                                            std::int64_t at);

}  // namespace fourhold::model
