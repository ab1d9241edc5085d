// Instruction sets the engine's kernels are built for, each holding those before it.
//
// A plan names one because the scratch memory of a kernel depends on it (kernel_scratch.h); what a
// machine has is asked in engine/kernels/isa.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fourhold/plan/plan.h"

namespace fourhold::plan {

enum class Isa : std::uint8_t {
  portable,     // plain C++ on any x86-64
  avx2,         // AVX2 and FMA
  avx512,       // AVX-512 F, BW, DQ, VL
  avx512_bf16,  // + VDPBF16PS
  amx,          // + AMX-TILE, AMX-BF16
};
inline constexpr int kIsaCount = 5;

// "avx512_bf16": the name in a plan's field `isa`, where "auto" stands before them all.
[[nodiscard]] constexpr std::string_view to_string(Isa isa) {
  return kIsaNames[static_cast<std::size_t>(isa) + 1];
}
static_assert(kIsaNames.size() == kIsaCount + 1 && kIsaNames[0] == "auto");
static_assert(to_string(Isa::portable) == "portable" && to_string(Isa::amx) == "amx");

}  // namespace fourhold::plan
