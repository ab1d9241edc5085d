// What choosing a token needs beside the logits: every token of the vocabulary with its weight.
#pragma once

#include <cstdint>
#include <string_view>

#include "fourhold/base/dtype.h"

namespace fourhold::plan {

// A stage's tensor of category scratch, alive while a token is chosen: int64 [vocabulary], of which
// each element holds an fp32 weight and an int32 id.
inline constexpr std::string_view kCandidatesName = "candidates";
inline constexpr DType kCandidatesType = DType::int64;

}  // namespace fourhold::plan
