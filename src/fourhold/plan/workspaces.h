// Workspaces for matrix products that libraries take from the framework's allocator: they count as
// allocated, from the first product to the end of the run.
#pragma once

#include <cstdint>

namespace fourhold::plan {

// Bytes of one workspace. Until the device is known these are the newest devices', the largest.
struct WorkspaceBytes {
  std::int64_t cublas = std::int64_t{32} << 20;  // of one cuBLAS handle, as PyTorch hands it out
  std::int64_t engine = std::int64_t{32} << 20;  // of TransformerEngine
};

// On a device of that CUDA compute capability, 0 = unknown. Before Hopper (9.0) cuBLAS gets two
// pieces of 4 MiB and eight of 16 KiB (pytorch/pytorch, aten/src/ATen/cuda/CublasHandlePool.cpp)
// and TransformerEngine takes 4 MiB (NVIDIA/TransformerEngine,
// transformer_engine/pytorch/cpp_extensions/gemm.py, get_cublas_workspace_size_bytes).
[[nodiscard]] constexpr WorkspaceBytes workspaces_of(double compute_capability) {
  constexpr double kHopper = 9;
  if (compute_capability == 0 || compute_capability >= kHopper) return {};
  constexpr std::int64_t kKib = 1024;
  return {.cublas = (2 * 4096 + 8 * 16) * kKib, .engine = 4096 * kKib};
}

}  // namespace fourhold::plan
