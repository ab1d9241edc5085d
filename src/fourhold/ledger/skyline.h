// Fills the lowest valley of the skyline with the best block that fits between its walls.
//
// The idea is that of Sekiyama, Imamichi, Imai and Raymond, "Profile-guided memory optimization for
// deep neural networks", arXiv:1804.10001, which places the longest lifetime first. Our caller
// tries other priorities too.
#pragma once

#include <vector>

#include "fourhold/ledger/block.h"

namespace fourhold::ledger {

// Places all blocks; among those that fit a valley the one earliest in `priority` goes first. About
// O(n log n) for the lifetimes of training programs, O(n^2) at worst.
[[nodiscard]] Stack fill_skyline(const std::vector<Block>& blocks, const BlockOrder& priority);

}  // namespace fourhold::ledger
