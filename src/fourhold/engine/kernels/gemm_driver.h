// The loops around a micro kernel: which thread does which output tile, what is packed when.
//
// A micro kernel is a type with
//   kRows, kColumns                      its micro tile
//   Session                              what a thread holds while it works (AMX: its tiles)
//   pack_left, pack_right(operand, block, to)   see plan/kernel_scratch.h; short edges become zeros
//   multiply(depth, left, right, sums, first)   sums [kRows, kColumns] = or += left x right
//   finish(sums, epilogue, tile)         writes the part of the output
// Threads take tiles as they come: a tile's result does not depend on who does it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fourhold/engine/kernels/gemm_epilogue.h"
#include "fourhold/engine/kernels/gemm_operand.h"
#include "fourhold/engine/threads/parallel.h"
#include "fourhold/plan/kernel_scratch.h"

namespace fourhold::engine {

struct BlockedProduct {
  plan::ProductSizes sizes;
  plan::GemmBlocking blocking;
  GemmOperand left;
  GemmOperand right;
  GemmEpilogue epilogue;
};

// One thread's view of the work: its scratch and the tile it is on.
template <typename Kernel>
class TileWorker {
 public:
  TileWorker(const BlockedProduct& product, std::byte* scratch)
      : product_(product), blocking_(product.blocking) {
    const plan::GemmScratch areas = plan::gemm_scratch(blocking_);
    left_ = scratch;
    right_ = left_ + areas.left_bytes;
    sums_ = reinterpret_cast<float*>(right_ + areas.right_bytes);
  }

  void do_tile(const OutputTile& tile) {
    for (std::int64_t block = 0; block < blocking_.depth_blocks; ++block) {
      const std::int64_t begin = block * blocking_.depth_block;
      const std::int64_t end = std::min(begin + blocking_.depth_block, product_.sizes.depth);
      Kernel::pack_right(product_.right, {tile.column, tile.column + tile.columns, begin, end},
                         right_);
      float* sums = sums_;
      for (std::int64_t r = 0; r < tile.rows; r += blocking_.row_block) {
        const OutputTile rows{tile.row + r, tile.column,
                              std::min(blocking_.row_block, tile.rows - r), tile.columns};
        Kernel::pack_left(product_.left, {rows.row, rows.row + rows.rows, begin, end}, left_);
        sums = multiply_rows(rows, {begin, end}, sums);
      }
    }
  }

 private:
  struct Depth {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  // A strip of the right operand stays in the first-level cache while all packed rows pass it.
  float* multiply_rows(const OutputTile& rows, const Depth& depth, float* sums) {
    const bool first = depth.begin == 0;
    const bool last = depth.end == product_.sizes.depth;
    const std::int64_t steps =
        (depth.end - depth.begin + blocking_.micro.depth_step - 1) / blocking_.micro.depth_step;
    const std::int64_t strip_bytes =
        steps * blocking_.micro.depth_step * blocking_.micro.packed_bytes;
    const std::byte* right = right_;
    for (std::int64_t c = 0; c < rows.columns; c += Kernel::kColumns) {
      const std::byte* left = left_;
      for (std::int64_t r = 0; r < rows.rows; r += Kernel::kRows) {
        Kernel::multiply(steps, left, right, sums, first);
        if (last) {
          Kernel::finish(
              sums, product_.epilogue,
              {rows.row + r, rows.column + c, std::min<std::int64_t>(Kernel::kRows, rows.rows - r),
               std::min<std::int64_t>(Kernel::kColumns, rows.columns - c)});
        }
        if (blocking_.depth_blocks > 1) sums += Kernel::kRows * Kernel::kColumns;
        left += Kernel::kRows * strip_bytes;
      }
      right += Kernel::kColumns * strip_bytes;
    }
    return sums;
  }

  const BlockedProduct& product_;
  const plan::GemmBlocking& blocking_;
  std::byte* left_ = nullptr;
  std::byte* right_ = nullptr;
  float* sums_ = nullptr;
};

template <typename Kernel>
void run_blocked(const BlockedProduct& product, int threads, std::span<std::byte> scratch) {
  const plan::GemmBlocking& blocking = product.blocking;
  assert(blocking.micro.rows == Kernel::kRows && blocking.micro.columns == Kernel::kColumns);
  const std::int64_t each = plan::gemm_scratch(blocking).total_bytes();
  assert(static_cast<std::int64_t>(scratch.size()) == threads * each && "the ledger's bytes");
  assert(reinterpret_cast<std::uintptr_t>(scratch.data()) % 64 == 0 && "scratch is aligned");
  const auto count = [](std::int64_t size, std::int64_t tile) { return (size + tile - 1) / tile; };
  const std::int64_t by_rows = count(product.sizes.rows, blocking.tile_rows);
  const std::int64_t tiles = by_rows * count(product.sizes.columns, blocking.tile_columns);
  std::atomic<std::int64_t> next = 0;
  on_each_worker(threads, [&](int worker) {
    [[maybe_unused]] const typename Kernel::Session session;
    TileWorker<Kernel> tile_worker(product, scratch.data() + worker * each);
    for (std::int64_t i = next.fetch_add(1, std::memory_order_relaxed); i < tiles;
         i = next.fetch_add(1, std::memory_order_relaxed)) {
      const std::int64_t row = i % by_rows * blocking.tile_rows;
      const std::int64_t column = i / by_rows * blocking.tile_columns;
      tile_worker.do_tile({row, column, std::min(blocking.tile_rows, product.sizes.rows - row),
                           std::min(blocking.tile_columns, product.sizes.columns - column)});
    }
  });
}

// A problem with its blocking worked out, for one micro kernel.
template <typename Kernel>
class BlockedGemm final : public Gemm {
 public:
  // `isa` is the one the micro kernel is for.
  BlockedGemm(const GemmProblem& problem, plan::Isa isa)
      : problem_(problem),
        sizes_(plan::product_sizes(problem.form, problem.sizes)),
        blocking_(plan::gemm_blocking(sizes_, problem.threads, isa)) {}

  void run(const GemmOperands& operands, std::span<std::byte> scratch) const override {
    assert(operands.output.elements() == sizes_.rows * sizes_.columns);
    assert(operands.left.elements() == sizes_.rows * sizes_.depth);
    assert(operands.right.elements() == sizes_.columns * sizes_.depth);
    const auto own = plan::gemm_scratch(blocking_).total_bytes() * problem_.threads;
    run_blocked<Kernel>(
        {sizes_,
         blocking_,
         left_operand(problem_, operands.left),
         right_operand(problem_, operands.right),
         {operands.output, operands.bias, operands.residual, sizes_.columns, problem_.destination}},
        problem_.threads, scratch.first(static_cast<std::size_t>(own)));
  }

 private:
  GemmProblem problem_;
  plan::ProductSizes sizes_;
  plan::GemmBlocking blocking_;
};

}  // namespace fourhold::engine
