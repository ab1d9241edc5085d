// How sources call their attention.
#pragma once

#include <string_view>

#include "fourhold/plan/profile.h"

namespace fourhold::measured {

// Whether the text is blank, or holds a word that sources use for attention.
[[nodiscard]] bool knows_attention(std::string_view text);

// Sets what attention saves and the kernel's generation: "flash-2", "fused softmax (no flash)",
// "cudnn flash", "sdpa flash", "torch". What names neither leaves the profile as it is.
void set_attention(std::string_view text, plan::Profile& profile);

}  // namespace fourhold::measured
