// How many layers a model may have.
#pragma once

#include "fourhold/base/range.h"

namespace fourhold::model {

// Four times the deepest published (DeepNet, Wang 2022, arXiv 2203.00555: 1,000 layers); beyond it
// a count is a mistake, and walking through so many layers takes seconds.
inline constexpr IntegerRange kLayerRange{1, 4096};

}  // namespace fourhold::model
