#include "fourhold/plan/attention_scratch.h"

#include <gtest/gtest.h>

#include "fourhold/base/error.h"

namespace fourhold::plan {
namespace {

// GPT-2's heads of 64: four blocks of 64 x 64, the probabilities' and three numbers a query are
// 5 x 4096 + 192 numbers of four bytes, for each thread.
TEST(AttentionScratch, ForwardIsAFewBlocksWhateverTheSequence) {
  EXPECT_EQ(attention_forward_scratch_bytes(64, 1), 4 * (5 * 4096 + 192));
  EXPECT_EQ(attention_forward_scratch_bytes(64, 2), 2 * 4 * (5 * 4096 + 192));
}

// Seven blocks, two of probabilities, two numbers a query, and dk and dv of the sequence.
TEST(AttentionScratch, BackwardAddsTheGradientsOfOneHeadOverASequence) {
  EXPECT_EQ(attention_backward_scratch_bytes(1024, 64, 1), 4 * (9 * 4096 + 128 + 2 * 1024 * 64));
  // 1025 tokens are 17 blocks, and a head of 65 columns is as wide as one of 80.
  EXPECT_EQ(attention_backward_scratch_bytes(1025, 65, 3),
            3 * 4 * (7 * 64 * 80 + 2 * 4096 + 128 + 2 * 17 * 64 * 80));
  EXPECT_EQ(attention_backward_scratch_bytes(1025, 65, 3),
            attention_backward_scratch_bytes(1088, 80, 3));
}

// A query and its output, padded to 16 columns, and 64 scores.
TEST(AttentionScratch, OverACacheIsOneQueryWhateverTheSequence) {
  EXPECT_EQ(cached_attention_scratch_bytes(64, 1), 4 * (2 * 64 + 64));
  EXPECT_EQ(cached_attention_scratch_bytes(65, 3), 3 * 4 * (2 * 80 + 64));
}

TEST(AttentionScratch, SizesBeyondSixtyFourBitsAreRefused) {
  EXPECT_THROW((void)attention_backward_scratch_bytes(std::int64_t{1} << 50, 1 << 12, 1 << 10),
               Error);
}

}  // namespace
}  // namespace fourhold::plan
