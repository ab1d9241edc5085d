// One block after the other, each as low as those before it allow.
#pragma once

#include <vector>

#include "fourhold/ledger/block.h"

namespace fourhold::ledger {

// Places the blocks in that order. O(n^2), with a small constant.
[[nodiscard]] Stack lowest_fit(const std::vector<Block>& blocks, const BlockOrder& order);

}  // namespace fourhold::ledger
