// The inner loop of update.h: a block of elements by raw pointers, for the CPU's widest vectors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fourhold/engine/optimizer/update.h"

namespace fourhold::engine {

// Elements that one call works on; the counters of a block fit 32 bits.
inline constexpr std::int64_t kUpdateBlock = 4096;

struct UpdateBlock {
  void* weight = nullptr;
  const void* gradient = nullptr;
  void* master = nullptr;
  float* moment1 = nullptr;
  float* moment2 = nullptr;
  const std::uint32_t* random = nullptr;  // bf16-sr: one for each element
  std::size_t elements = 0;
};

// What is the same for all blocks of a shard.
struct UpdateKind {
  plan::Precision precision = plan::Precision::bf16;
  bool fp32_gradient = false;
  Pass pass = Pass::write;
};

void update_block(const UpdateBlock& block, const UpdateKind& kind, const StepFactors& factors,
                  UpdateReport& report);

}  // namespace fourhold::engine
