#include "fourhold/engine/kernels/embedding.h"

#include <gtest/gtest.h>

#include "tests/engine/kernels/support.h"

namespace fourhold::engine {
namespace {

// Ids from 0 to 9, some of them often; a rank that holds rows 2 to 7 of the vocabulary.
std::vector<std::int32_t> some_ids(std::int64_t tokens) {
  std::vector<std::int32_t> ids;
  for (std::int64_t t = 0; t < tokens; ++t) ids.push_back(static_cast<std::int32_t>(t * t % 10));
  return ids;
}
constexpr std::int64_t kFirst = 2;
constexpr std::int64_t kEntries = 6;

TEST(Embedding, RowsAreLookedUpAndThoseOfOtherRanksAreZero) {
  for (const Isa isa : isas()) {
    for (const DType parameters : kComputeTypes) {
      for (const std::int64_t width : {1, 3, 17, 65, 129}) {
        const std::vector<std::int32_t> ids = some_ids(33);
        Integers id_tensor(ids);
        Values table = random_values(parameters, {kEntries, width}, 1);
        Values out(DType::bf16, {33, width});
        embedding_lookup(id_tensor.tensor(), table.tensor(), kFirst, out.tensor(), {3, isa});
        for (std::int64_t i = 0; i < out.size(); ++i) {
          const std::int64_t entry = ids[static_cast<std::size_t>(i / width)] - kFirst;
          const bool own = entry >= 0 && entry < kEntries;
          const double expected = own ? table[entry * width + i % width] : 0;
          ASSERT_EQ(out[i], to_float(to_bf16(static_cast<float>(expected))));
        }
      }
    }
  }
}

// 33 tokens, at most 7 of one id: sums of 7 normal numbers in fp32, rounded once.
TEST(Embedding, GradientsOfATokensRowsAreSummedAndRoundedOnce) {
  for (const Isa isa : isas()) {
    for (const DType dtype : kComputeTypes) {
      for (const DType gradients : kComputeTypes) {
        for (const std::int64_t width : {1, 3, 17, 65, 129}) {
          const std::vector<std::int32_t> ids = some_ids(33);
          Integers id_tensor(ids);
          Values dy = random_values(dtype, {33, width}, 1);
          Values dtable = random_values(gradients, {kEntries, width}, 2);
          std::vector<double> expected = dtable.doubles();
          for (std::int64_t i = 0; i < dy.size(); ++i) {
            const std::int64_t entry = ids[static_cast<std::size_t>(i / width)] - kFirst;
            if (entry < 0 || entry >= kEntries) continue;
            expected[static_cast<std::size_t>(entry * width + i % width)] += dy[i];
          }
          embedding_lookup_backward(id_tensor.tensor(), dy.tensor(), kFirst, dtable.tensor(),
                                    {3, isa});
          expect_near(dtable, expected, rounding_of(gradients), 2e-6);
        }
      }
    }
  }
}

// 20000 equal addends to one bf16 row: rounding each of them would stop at 256 times the first.
TEST(Embedding, ManyAddendsToOneBf16RowAreNotLost) {
  for (const Isa isa : isas()) {
    constexpr std::int64_t kTokens = 20'000;
    Integers ids(std::vector<std::int32_t>(kTokens, 0));
    Values dy(DType::bf16, {kTokens, 3});
    for (std::int64_t i = 0; i < dy.size(); ++i) dy.set(i, 1);
    Values dtable(DType::bf16, {1, 3});
    for (std::int64_t i = 0; i < 3; ++i) dtable.set(i, 0);
    embedding_lookup_backward(ids.tensor(), dy.tensor(), 0, dtable.tensor(), {2, isa});
    // Blocks of 8192: 8192, 16384, then 20000, which lies between bf16's 19968 and 20096.
    EXPECT_EQ(dtable[0], 19968);
  }
}

TEST(Embedding, BitsDoNotDependOnTheNumberOfThreads) {
  for (const Isa isa : isas()) {
    Integers ids(some_ids(500));
    Values dy = random_values(DType::bf16, {500, 200}, 1);
    Values one = random_values(DType::bf16, {10, 200}, 2);
    Values many = one;
    embedding_lookup_backward(ids.tensor(), dy.tensor(), 0, one.tensor(), {1, isa});
    embedding_lookup_backward(ids.tensor(), dy.tensor(), 0, many.tensor(), {4, isa});
    EXPECT_EQ(one, many);
  }
}

TEST(Embedding, PositionsAreAddedPerSequenceAndTheirGradientsSummedOverSequences) {
  // Two pieces of a sequence: positions 2, 3, 4 and 9, 10, 11; OPT's tables begin two rows early.
  const Positions positions{.sequences = 3, .tokens = 6, .first = 2, .pieces = 2, .second = 9};
  const std::int64_t rows[] = {4, 5, 6, 11, 12, 13};
  constexpr std::int64_t kWidth = 19;
  for (const Isa isa : isas()) {
    for (const DType dtype : kComputeTypes) {
      Values table = random_values(dtype, {14, kWidth}, 1);
      Values x = random_values(dtype, {18, kWidth}, 2);
      const Values before = x;
      add_positions(x.tensor(), positions, table.tensor(), 2, {2, isa});
      Values dtable = random_values(DType::bf16, {14, kWidth}, 3);
      std::vector<double> gradients = dtable.doubles();
      Values dy = before;
      for (std::int64_t i = 0; i < x.size(); ++i) {
        const std::int64_t at = rows[i / kWidth % 6] * kWidth + i % kWidth;
        const auto sum = static_cast<float>(before[i] + table[at]);
        ASSERT_EQ(x[i], dtype == DType::bf16 ? to_float(to_bf16(sum)) : sum);
        gradients[static_cast<std::size_t>(at)] += dy[i];
      }
      add_positions_backward(dy.tensor(), positions, dtable.tensor(), 2, {2, isa});
      expect_near(dtable, gradients, rounding_of(DType::bf16), 1e-6);
    }
  }
}

// Ranks that share the rows of three sequences of 6 tokens, positions 2, 3, 4 and 9, 10, 11, begin
// and end inside sequences: each has its rows of what the whole would be, and the gradients of all
// add up to the whole's.
TEST(Embedding, SharesOfTheRowsHaveThePositionsOfTheWhole) {
  const std::int64_t rows[] = {2, 3, 4, 9, 10, 11};
  constexpr std::int64_t kWidth = 19;
  for (const Isa isa : isas()) {
    for (const std::int64_t shares : {2, 3, 6, 9}) {
      const std::int64_t share_rows = 18 / shares;
      Values table = random_values(DType::fp32, {12, kWidth}, 1);
      Values dtable(DType::fp32, {12, kWidth});
      for (std::int64_t i = 0; i < dtable.size(); ++i) dtable.set(i, 0);
      std::vector<double> gradients(12 * kWidth, 0.0);
      for (std::int64_t share = 0; share < shares; ++share) {
        SCOPED_TRACE(::testing::Message() << share << " of " << shares);
        const Positions positions{.sequences = 3,
                                  .tokens = 6,
                                  .first = 2,
                                  .pieces = 2,
                                  .second = 9,
                                  .shares = shares,
                                  .share = share};
        Values x =
            random_values(DType::fp32, {share_rows, kWidth}, 2 + static_cast<unsigned>(share));
        Values dy = x;
        const Values before = x;
        add_positions(x.tensor(), positions, table.tensor(), 0, {2, isa});
        for (std::int64_t i = 0; i < x.size(); ++i) {
          const std::int64_t row = share * share_rows + i / kWidth;
          const std::int64_t at = rows[row % 6] * kWidth + i % kWidth;
          ASSERT_EQ(x[i], static_cast<float>(before[i] + table[at]));
          gradients[static_cast<std::size_t>(at)] += before[i];
        }
        add_positions_backward(dy.tensor(), positions, dtable.tensor(), 0, {2, isa});
      }
      expect_near(dtable, gradients, 1e-6, 1e-6);
    }
  }
}

}  // namespace
}  // namespace fourhold::engine
