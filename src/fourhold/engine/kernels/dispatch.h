// Which of a kernel's compiled versions an Isa stands for.
//
// Highway compiles a kernel once for each target (foreach_target.h) and tabulates the versions
// (HWY_EXPORT). Its own choice between them is a variable of the process; ours is an index made
// from the plan's Isa for every call, so that two plans in one process do not meet.
#pragma once

#include <hwy/targets.h>

#include <cstddef>
#include <cstdint>

#include "fourhold/engine/kernels/isa.h"

namespace fourhold::engine {

// The Highway targets an Isa allows; without any, its portable version runs. Other processors than
// x86 have one version, which is portable.
[[nodiscard]] constexpr std::int64_t highway_targets(Isa isa) {
  switch (isa) {
    case Isa::portable:
      return 0;
    case Isa::avx2:
      return HWY_AVX2;
    case Isa::avx512:
    case Isa::avx512_bf16:
    case Isa::amx:
      break;
  }
  return HWY_AVX3 | HWY_AVX2;
}

// The place in a table made by HWY_EXPORT.
[[nodiscard]] inline std::size_t version_of(Isa isa) {
  if constexpr ((HWY_TARGETS & (HWY_TARGETS - 1)) == 0) return 0;
  hwy::ChosenTarget chosen;
  chosen.Update(highway_targets(isa));
  return chosen.GetIndex();
}

}  // namespace fourhold::engine
