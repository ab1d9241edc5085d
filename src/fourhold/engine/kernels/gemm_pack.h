// Packing in plain C++: outer index in strips of kWidth, depth by depth, as fp32.
//
//   to[strip][depth][kWidth]; the last strip is filled up with zeros
#pragma once

#include <algorithm>
#include <cstdint>

#include "fourhold/engine/kernels/gemm_operand.h"

namespace fourhold::engine {

template <int kWidth, typename T>
[[gnu::always_inline]] inline void pack_strips_of(const GemmOperand& operand,
                                                  const PackBlock& block, float* to) {
  const std::int64_t along_outer = operand.contiguous == Contiguous::depth ? operand.stride : 1;
  const std::int64_t along_depth = operand.contiguous == Contiguous::depth ? 1 : operand.stride;
  for (std::int64_t o = block.outer_begin; o < block.outer_end; o += kWidth) {
    const auto width = static_cast<int>(std::min<std::int64_t>(kWidth, block.outer_end - o));
    const T* from = operand.at<T>(o, block.depth_begin);
    for (std::int64_t d = 0; d < block.depth(); ++d, to += kWidth, from += along_depth) {
      for (int w = 0; w < width; ++w) to[w] = to_float(from[w * along_outer]);
      std::fill(to + width, to + kWidth, 0.0F);
    }
  }
}

template <int kWidth>
[[gnu::always_inline]] inline void pack_strips(const GemmOperand& operand, const PackBlock& block,
                                               std::byte* to) {
  if (operand.dtype == DType::bf16) {
    pack_strips_of<kWidth, Bf16>(operand, block, reinterpret_cast<float*>(to));
  } else {
    pack_strips_of<kWidth, float>(operand, block, reinterpret_cast<float*>(to));
  }
}

}  // namespace fourhold::engine
