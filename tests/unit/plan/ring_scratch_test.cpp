#include "fourhold/plan/ring_scratch.h"

#include <gtest/gtest.h>

#include "fourhold/base/error.h"

namespace fourhold::plan {
namespace {

// Two heads of 64 over two pieces of 64 tokens, one kv head: k and v are 2 x 128 x 64 numbers.
RingSizes sizes_of(std::int64_t members) {
  return {.members = members,
          .queries = {.heads = 2, .pieces = 2, .piece_tokens = 64, .head_dim = 64},
          .key_value_elements = 16384,
          .dtype = DType::bf16,
          .threads = 1};
}

// 65 tokens are two blocks, and a head of 65 columns is as wide as one of 80: 2 sequences x 3 heads
// x 2 pieces x 2 blocks of 64 x 80 numbers, and in forward two for each query.
TEST(RingScratch, KeepsWholeBlocksOfEachPieceBetweenVisits) {
  const PartialAttentionSizes sizes{2, 3, 2, 65, 65};
  EXPECT_EQ(partial_gradient_bytes(sizes), 24 * 4 * 64 * 80);
  EXPECT_EQ(partial_attention_bytes(sizes), 24 * 4 * (64 * 80 + 2 * 64));
  EXPECT_EQ(partial_attention_tokens(2, 65), 256);
  EXPECT_EQ(partial_attention_tokens(1, 130), 192);
}

// The kernel's 5 x 4096 + 192 numbers, 4 blocks of 4096 + 128, and twice 32768 bytes of k and v.
TEST(RingScratch, OfForwardIsItsKernelsItsQueriesAndTwoMembersKeys) {
  const RingForwardScratch scratch(sizes_of(4));
  EXPECT_EQ(scratch.seen, 4 * (5 * 4096 + 192));
  EXPECT_EQ(scratch.passing[0], scratch.seen + 4 * 4 * (4096 + 128));
  EXPECT_EQ(scratch.passing[1], scratch.passing[0] + 32768);
  EXPECT_EQ(scratch.bytes, scratch.passing[1] + 32768);
  EXPECT_EQ(RingForwardScratch(sizes_of(2)).bytes, scratch.bytes);
  EXPECT_EQ(RingForwardScratch(sizes_of(64)).bytes, scratch.bytes);
}

// The kernel's 9 x 4096 + 128 numbers and 2 x 128 x 64 of dk and dv, 4 blocks of 4096, 16384 sums,
// and five times 32768 bytes; four times where there is one other member.
TEST(RingScratch, OfBackwardDoesNotGrowWithTheMembers) {
  const std::int64_t alone = 4 * (9 * 4096 + 128 + 16384) + 4 * (4 * 4096) + 4 * 16384;
  EXPECT_EQ(RingBackwardScratch(sizes_of(2)).bytes, alone + 4 * 32768);
  EXPECT_EQ(RingBackwardScratch(sizes_of(3)).bytes, alone + 5 * 32768);
  EXPECT_EQ(RingBackwardScratch(sizes_of(64)).bytes, alone + 5 * 32768);
  const RingBackwardScratch two(sizes_of(2));
  EXPECT_EQ(two.leaving[0], two.leaving[1]);
}

TEST(RingScratch, PartsBeginAtWholeCacheLines) {
  RingSizes sizes = sizes_of(3);
  sizes.queries.piece_tokens = 3;
  sizes.key_value_elements = 2 * 6 * 7;
  sizes.threads = 3;
  const RingBackwardScratch scratch(sizes);
  for (const std::int64_t begin :
       {scratch.dq_seen, scratch.sums, scratch.passing[0], scratch.passing[1], scratch.leaving[0],
        scratch.leaving[1], scratch.arriving, scratch.bytes}) {
    EXPECT_EQ(begin % 64, 0);
  }
  EXPECT_EQ(scratch.passing[1] - scratch.passing[0], 192);  // 168 bytes
}

TEST(RingScratch, SizesBeyondSixtyFourBitsAreRefused) {
  RingSizes sizes = sizes_of(2);
  sizes.queries.piece_tokens = std::int64_t{1} << 58;
  EXPECT_THROW(RingForwardScratch{sizes}, Error);
  EXPECT_THROW(RingBackwardScratch{sizes}, Error);
}

}  // namespace
}  // namespace fourhold::plan
