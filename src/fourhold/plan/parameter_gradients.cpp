#include "fourhold/plan/parameter_gradients.h"

#include <algorithm>

namespace fourhold::plan {

bool written_in_forward(const ProgramBlock& block, std::size_t parameter) {
  return std::any_of(block.forward.begin(), block.forward.end(), [parameter](const Step& step) {
    return step.writes_gradients.contains(static_cast<std::int16_t>(parameter));
  });
}

std::int64_t kv_heads_of(const LocalParameter& parameter) {
  for (const model::Extent& extent : parameter.use.parameter.shape) {
    if (extent.dim == model::Dim::kv_heads) return extent.size;
  }
  return 1;
}

}  // namespace fourhold::plan
