#include "fourhold/plan/kernel_scratch.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fourhold::plan {
namespace {

TEST(GemmScratch, IsAPackedBlockOfEachOperandAndOneMicroTileOfSums) {
  // 64 x 128 and 96 x 128 bf16, 8 x 48 fp32.
  EXPECT_EQ(gemm_scratch_bytes(GemmForm::forward, {64, 96, 128}, DType::bf16, 1, Isa::avx512_bf16),
            64 * 128 * 2 + 96 * 128 * 2 + 8 * 48 * 4);
}

TEST(GemmScratch, RoundsEdgesUpToTheMicroTile) {
  // AMX: 33 rows and 40 columns become 64, 50 of depth become 64.
  EXPECT_EQ(gemm_scratch_bytes(GemmForm::forward, {33, 40, 50}, DType::bf16, 1, Isa::amx),
            64 * 64 * 2 + 64 * 64 * 2 + 32 * 32 * 4);
}

TEST(GemmScratch, HoldsTheTilesSumsWhereDepthTakesSeveralBlocks) {
  // AVX2: 6 x 16, so 12 x 32; 600 in blocks of at most 256 are three of 200.
  EXPECT_EQ(gemm_scratch_bytes(GemmForm::forward, {10, 20, 600}, DType::fp32, 1, Isa::avx2),
            12 * 200 * 4 + 32 * 200 * 4 + 12 * 32 * 4);
}

TEST(GemmScratch, IsPerThread) {
  // Two tiles of 64 x 48 cost less packing than two of 32 x 96.
  EXPECT_EQ(gemm_scratch_bytes(GemmForm::forward, {64, 96, 128}, DType::bf16, 2, Isa::avx512_bf16),
            2 * (64 * 128 * 2 + 48 * 128 * 2 + 8 * 48 * 4));
}

TEST(GemmScratch, TakesTheShapesOfEachForm) {
  // dw [96, 128] sums over 64 tokens, dx [64, 128] over 96 outputs. 128 columns take 3 strips
  // of 48.
  EXPECT_EQ(gemm_scratch_bytes(GemmForm::backward_weight, {64, 96, 128}, DType::bf16, 1,
                               Isa::avx512_bf16),
            96 * 64 * 2 + 144 * 64 * 2 + 8 * 48 * 4);
  EXPECT_EQ(
      gemm_scratch_bytes(GemmForm::backward_data, {64, 96, 128}, DType::bf16, 1, Isa::avx512_bf16),
      64 * 96 * 2 + 144 * 96 * 2 + 8 * 48 * 4);
}

TEST(GemmScratch, Fp32IsServedByAvx512WhereInstructionsForBf16AreChosen) {
  for (const Isa isa : {Isa::avx512_bf16, Isa::amx}) {
    EXPECT_EQ(kernel_isa(isa, DType::fp32), Isa::avx512);
    EXPECT_EQ(kernel_isa(isa, DType::bf16), isa);
  }
  EXPECT_EQ(kernel_isa(Isa::avx2, DType::fp32), Isa::avx2);
}

// 1024 x 1024 fp32 sums, blocks of 1056 x 512 bf16 or less, whatever the sizes.
RC_GTEST_PROP(GemmScratch, StaysBelowSixMebibytesAThread, ()) {
  const auto size = rc::gen::inRange<std::int64_t>(1, 200000);
  const GemmSizes sizes{*size, *size, *size};
  const auto form =
      *rc::gen::element(GemmForm::forward, GemmForm::backward_data, GemmForm::backward_weight);
  const auto dtype = *rc::gen::element(DType::bf16, DType::fp32);
  const auto isa = static_cast<Isa>(*rc::gen::inRange(0, kIsaCount));
  const int threads = *rc::gen::inRange(1, 65);
  RC_ASSERT(gemm_scratch_bytes(form, sizes, dtype, threads, isa) <= threads * (6LL << 20));
}

// The plan's threads share the tiles, and depth is cut the same way for every number of them.
RC_GTEST_PROP(GemmBlocking, CutsDepthWithoutLookingAtThreads, ()) {
  const auto size = rc::gen::inRange<std::int64_t>(1, 20000);
  const ProductSizes sizes{*size, *size, *size};
  const auto isa = static_cast<Isa>(*rc::gen::inRange(0, kIsaCount));
  const GemmBlocking one = gemm_blocking(sizes, 1, isa);
  const GemmBlocking many = gemm_blocking(sizes, *rc::gen::inRange(2, 65), isa);
  RC_ASSERT(one.depth_block == many.depth_block);
  RC_ASSERT(one.depth_blocks * one.depth_block >= sizes.depth);
  RC_ASSERT((one.depth_blocks - 1) * one.depth_block < sizes.depth);
  RC_ASSERT(many.tile_rows % many.micro.rows == 0 && many.tile_columns % many.micro.columns == 0);
  RC_ASSERT(many.row_block % many.micro.rows == 0 && many.row_block <= many.tile_rows);
}

}  // namespace
}  // namespace fourhold::plan
