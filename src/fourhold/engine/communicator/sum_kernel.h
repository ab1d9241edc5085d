// Adds pieces of several ranks in fp32, in a fixed order, and rounds once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fourhold/base/dtype.h"

namespace fourhold::engine {

enum class Sum : std::uint8_t {
  replace,     // the result takes the place of what was there
  accumulate,  // what was there is added to it, in fp32, before it is rounded
};

// to[i] = sources[0][i] + sources[1][i] + ..., both types fp32 or bf16. `to` may be one of the
// sources if it has their type. The same bits for any number of threads and any instruction set.
struct SumOfSources {
  std::span<const std::byte* const> sources;  // at least one
  DType source_type = DType::fp32;
  std::byte* to = nullptr;
  DType to_type = DType::fp32;
  std::int64_t elements = 0;
};
void add_sources(const SumOfSources& call, Sum sum, int threads);

}  // namespace fourhold::engine
