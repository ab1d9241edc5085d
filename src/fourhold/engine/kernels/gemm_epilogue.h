// What happens to a finished tile of fp32 sums: bias, residual, what the destination held,
// rounding.
//
// Written as plain loops that are always inlined, so that each kernel's file compiles them for its
// own instruction set.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "fourhold/engine/kernels/gemm.h"

namespace fourhold::engine {

struct GemmEpilogue {
  Tensor output;
  Tensor bias;
  Tensor residual;
  std::int64_t columns = 0;  // of the output: its row stride
  Destination destination = Destination::overwrite;
};

// The part of the output a tile of sums covers.
struct OutputTile {
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

template <typename T>
[[gnu::always_inline]] inline void add_to(float* __restrict line, const T* __restrict addend,
                                          std::int64_t count) {
  for (std::int64_t c = 0; c < count; ++c) line[c] += to_float(addend[c]);
}

[[gnu::always_inline]] inline void add_tensor(float* line, const Tensor& tensor,
                                              std::int64_t offset, std::int64_t count) {
  if (tensor.dtype == DType::bf16) {
    add_to(line, reinterpret_cast<const Bf16*>(tensor.data) + offset, count);
  } else {
    add_to(line, reinterpret_cast<const float*>(tensor.data) + offset, count);
  }
}

// The same as to_bf16 without a branch, which compilers turn into vector instructions.
[[gnu::always_inline]] inline void round_line(const float* __restrict line, Bf16* __restrict to,
                                              std::int64_t count) {
  for (std::int64_t c = 0; c < count; ++c) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, line + c, sizeof bits);
    const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    const std::uint32_t quiet = (bits >> 16) | 0x40U;
    to[c].bits = static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? quiet : rounded);
  }
}

// `sums` is row-major with kSumColumns columns.
template <int kSumColumns>
[[gnu::always_inline]] inline void finish_tile(const float* sums, const GemmEpilogue& epilogue,
                                               const OutputTile& tile) {
  alignas(64) float line[kSumColumns];
  for (std::int64_t r = 0; r < tile.rows; ++r) {
    const std::int64_t offset = (tile.row + r) * epilogue.columns + tile.column;
    for (int c = 0; c < kSumColumns; ++c) line[c] = sums[r * kSumColumns + c];
    if (epilogue.bias.data != nullptr) {
      add_tensor(line, epilogue.bias, tile.column, tile.columns);
    }
    if (epilogue.residual.data != nullptr) {
      add_tensor(line, epilogue.residual, offset, tile.columns);
    }
    if (epilogue.destination == Destination::accumulate) {
      add_tensor(line, epilogue.output, offset, tile.columns);
    }
    if (epilogue.output.dtype == DType::bf16) {
      round_line(line, reinterpret_cast<Bf16*>(epilogue.output.data) + offset, tile.columns);
    } else {
      std::copy_n(line, tile.columns, reinterpret_cast<float*>(epilogue.output.data) + offset);
    }
  }
}

}  // namespace fourhold::engine
