#include "fourhold/engine/data/sequences.h"

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fourhold/engine/data/byte_tokenizer.h"
#include "fourhold/engine/data/tokenize.h"
#include "tests/engine/data/fault.h"
#include "tests/engine/data/files.h"

namespace fourhold::engine::data {
namespace {

using Ids = std::vector<TokenId>;

TokenSource counting(int count) {
  std::vector<std::uint16_t> tokens(static_cast<std::size_t>(count));
  std::iota(tokens.begin(), tokens.end(), std::uint16_t{100});
  return {std::move(tokens), {}};
}

TEST(Sequences, TargetsAreTheTokensAfterTheInputs) {
  const TokenSource source = counting(10);  // 100 to 109
  const Sequences sequences(source, 3);
  ASSERT_EQ(sequences.count(), 3);  // 9 inputs have a next token
  Ids inputs(3);
  Ids targets(3);
  EXPECT_EQ(sequences.read(0, inputs, targets), 3);
  EXPECT_EQ(inputs, (Ids{100, 101, 102}));
  EXPECT_EQ(targets, (Ids{101, 102, 103}));
  EXPECT_EQ(sequences.read(2, inputs, targets), 3);
  EXPECT_EQ(inputs, (Ids{106, 107, 108}));
  EXPECT_EQ(targets, (Ids{107, 108, 109}));
}

TEST(Sequences, RefusesLessThanOneSequenceAndSaysWhatFits) {
  const TokenSource source = counting(5);
  EXPECT_EQ(Sequences(source, 4).count(), 1);
  const Fault fault = fault_of([&] { const Sequences sequences(source, 5); });
  EXPECT_TRUE(has(fault.what, "5 tokens are less than one sequence of 5")) << fault.what;
  EXPECT_TRUE(has(fault.hint, "--seq 4 at most")) << fault.hint;
  const TokenSource empty = counting(0);
  (void)fault_of([&] { const Sequences sequences(empty, 1); });
}

class ExamplesTest : public FolderTest {
 protected:
  TokenSource examples(const std::string& lines) {
    const auto bytes = make_byte_tokenizer();
    (void)tokenize({.inputs = {write("in.jsonl", lines)}, .output = path("out.bin")}, *bytes);
    return open_tokens(path("out.bin"), {.model_vocabulary = 257});
  }
};

TEST_F(ExamplesTest, PromptsAndPaddingAreNotLearned) {
  const TokenSource source = examples(R"({"prompt": "ab", "answer": "cd"}
{"prompt": "", "answer": "x"}
)");
  const Sequences sequences(source, 6);
  ASSERT_EQ(sequences.count(), 2);
  Ids inputs(6);
  Ids targets(6);
  // a b c d END: c, d and END are learned, from the last byte of the prompt on.
  EXPECT_EQ(sequences.read(0, inputs, targets), 3);
  EXPECT_EQ(inputs, (Ids{'a', 'b', 'c', 'd', 256, 0}));
  EXPECT_EQ(targets, (Ids{-1, 'c', 'd', 256, -1, -1}));
  // x END: the first token has nothing before it to be predicted from.
  EXPECT_EQ(sequences.read(1, inputs, targets), 1);
  EXPECT_EQ(inputs, (Ids{'x', 256, 0, 0, 0, 0}));
  EXPECT_EQ(targets, (Ids{256, -1, -1, -1, -1, -1}));
}

TEST_F(ExamplesTest, AnExampleMayFillASequenceAndItsLastTarget) {
  const TokenSource source = examples(R"({"prompt": "ab", "answer": "cd"})");
  const Sequences sequences(source, 4);
  Ids inputs(4);
  Ids targets(4);
  EXPECT_EQ(sequences.read(0, inputs, targets), 3);
  EXPECT_EQ(inputs, (Ids{'a', 'b', 'c', 'd'}));
  EXPECT_EQ(targets, (Ids{-1, 'c', 'd', 256}));
}

TEST_F(ExamplesTest, RefusesALongerExampleAndSaysWhatHoldsTheLongest) {
  const TokenSource source = examples(R"({"prompt": "a", "answer": "b"}
{"prompt": "ab", "answer": "cd"}
{"prompt": "abc", "answer": "def"}
)");
  const Fault fault = fault_of([&] { const Sequences sequences(source, 3); });
  EXPECT_TRUE(has(fault.what, "example 1 has 5 tokens; a sequence of 3 holds 4")) << fault.what;
  EXPECT_TRUE(has(fault.hint, "--seq 6 ")) << fault.hint;
  EXPECT_EQ(Sequences(source, 6).count(), 3);
}

TEST(SplitSequences, TheTailIsHeldOut) {
  EXPECT_EQ(split_sequences(1000), (Split{990, 10}));  // 1 %
  EXPECT_EQ(split_sequences(1000, 0.25), (Split{750, 250}));
  EXPECT_EQ(split_sequences(99), (Split{98, 1}));  // at least one
  EXPECT_EQ(split_sequences(2), (Split{1, 1}));
  EXPECT_EQ(split_sequences(1, 0), (Split{1, 0}));
}

TEST(SplitSequences, RefusesWhatLeavesNothingToTrainOn) {
  EXPECT_TRUE(has(fault_of([] { (void)split_sequences(1); }).what, "1 of 1 sequence"));
  EXPECT_TRUE(has(fault_of([] { (void)split_sequences(100, 1); }).what, "share of 1"));
  (void)fault_of([] { (void)split_sequences(100, -0.1); });
  (void)fault_of([] { (void)split_sequences(100, std::stod("nan")); });
}

}  // namespace
}  // namespace fourhold::engine::data
