// Memory for the operands of measured kernels, as the engine's arena gives it.
#pragma once

#include <cassert>
#include <cstdint>
#include <cstring>
#include <span>

#include "fourhold/base/dims.h"
#include "fourhold/base/dtype.h"
#include "fourhold/engine/arena/arena.h"
#include "fourhold/engine/tensor/tensor.h"

namespace fourhold::engine {

// Hands out tensors one after another; all are given back together. Every element is 0.0115 as bf16
// and as fp32: processors can be faster on zeros.
class Workspace {
 public:
  Workspace(std::int64_t bytes, int threads) : arena_(bytes, threads) {
    std::memset(arena_.at(0), 0x3c, static_cast<std::size_t>(bytes));
  }

  [[nodiscard]] std::span<std::byte> bytes(std::int64_t count) {
    const std::int64_t at = used_;
    used_ += (count + kAlignment - 1) / kAlignment * kAlignment;
    assert(used_ <= arena_.bytes() && "the workspace is made for its largest user");
    return {arena_.at(at), static_cast<std::size_t>(count)};
  }
  [[nodiscard]] Tensor tensor(DType dtype, const Dims& dims) {
    return {bytes(bytes_of(dims.elements(), dtype)).data(), dtype, dims};
  }
  void give_back() { used_ = 0; }

 private:
  static constexpr std::int64_t kAlignment = 64;
  Arena arena_;
  std::int64_t used_ = 0;
};

}  // namespace fourhold::engine
